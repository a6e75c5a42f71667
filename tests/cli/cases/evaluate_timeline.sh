regal evaluate graphs/diamond.pbtxt graphs/diamond.order --timeline -q
