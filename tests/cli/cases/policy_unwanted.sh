regal optimize graphs/three.pbtxt --method heft --policy rule
