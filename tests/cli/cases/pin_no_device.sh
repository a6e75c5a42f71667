regal optimize graphs/diamond.pbtxt --pin 'a=2'
