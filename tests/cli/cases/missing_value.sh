regal optimize graphs/diamond.pbtxt --devices
