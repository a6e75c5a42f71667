regal optimize graphs/diamond.pbtxt --format text
