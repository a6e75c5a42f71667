# None comes with regal for so many devices.
regal optimize graphs/three.pbtxt --method regal --devices 61
