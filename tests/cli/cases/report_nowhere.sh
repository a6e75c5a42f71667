regal report graphs/diamond.pbtxt graphs/diamond.order
