# None comes with regal for this decoder.
regal optimize graphs/three.pbtxt --method regal --devices 61 --decoder clock
