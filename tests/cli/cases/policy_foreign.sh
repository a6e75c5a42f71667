regal optimize graphs/three.pbtxt --method regal --policy graphs/three.pbtxt
