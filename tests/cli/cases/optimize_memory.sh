regal optimize graphs/diamond.pbtxt --threads 1 --objective=memory --devices=1
