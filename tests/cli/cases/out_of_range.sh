regal optimize graphs/diamond.pbtxt --devices 65
