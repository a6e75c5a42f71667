regal optimize graphs/diamond.pbtxt --objective
