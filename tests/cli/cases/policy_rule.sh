# A policy without a method is for regal; its own evaluations count.
regal optimize graphs/three.pbtxt --threads 1 --policy rule --evaluations 50 \
  --bandwidth 1B/s | grep -E '^(method|account)'
