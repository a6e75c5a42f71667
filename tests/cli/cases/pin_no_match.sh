regal optimize graphs/diamond.pbtxt --pin 'aa*=0'
