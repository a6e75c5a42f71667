regal optimize graphs/diamond.pbtxt --zzzzzzzz
