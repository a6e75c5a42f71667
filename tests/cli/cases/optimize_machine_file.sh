regal optimize graphs/diamond.pbtxt --threads 1 --machine graphs/fast_and_slow.json
