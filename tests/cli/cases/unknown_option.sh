regal optimize graphs/diamond.pbtxt --devces 2
