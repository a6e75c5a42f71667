regal optimize graphs/diamond.pbtxt --machine graphs/diamond.order
