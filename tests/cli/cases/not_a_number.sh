regal optimize graphs/diamond.pbtxt --seed=two
