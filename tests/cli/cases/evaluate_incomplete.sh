regal evaluate graphs/diamond.pbtxt graphs/incomplete.order
