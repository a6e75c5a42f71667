regal optimize graphs/diamond.pbtxt --memory-limit 16Giga
