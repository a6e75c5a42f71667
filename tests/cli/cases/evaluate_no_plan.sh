regal evaluate graphs/diamond.pbtxt
