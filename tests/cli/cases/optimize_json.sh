regal optimize graphs/diamond.pbtxt --threads 1 --json
