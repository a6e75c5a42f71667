regal optimize graphs/diamond.pbtxt --threads 1 --memory-limit 2MiB
