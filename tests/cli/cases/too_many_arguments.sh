regal optimize graphs/diamond.pbtxt graphs/three.pbtxt
