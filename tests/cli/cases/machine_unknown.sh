regal optimize graphs/diamond.pbtxt --machine a100x8-pcie
