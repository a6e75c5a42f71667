regal optimize graphs/diamond.pbtxt --method magic
