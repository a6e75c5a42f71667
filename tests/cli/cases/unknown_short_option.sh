regal optimize graphs/diamond.pbtxt -x
