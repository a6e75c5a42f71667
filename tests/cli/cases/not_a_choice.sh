regal optimize graphs/diamond.pbtxt --transfers=fast
