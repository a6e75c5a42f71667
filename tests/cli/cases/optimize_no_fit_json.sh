regal optimize graphs/diamond.pbtxt --threads 1 --memory-limit 1KiB \
  --method single --json
