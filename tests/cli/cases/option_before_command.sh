regal --devices 2 optimize graphs/diamond.pbtxt
