regal optimize graphs/diamond.pbtxt --threads 1 --method single -o no/such/folder
