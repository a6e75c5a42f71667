regal optimize graphs/diamond.pbtxt --threads 1 --method brkga \
  --bandwidth 100GB --latency 1us --transfers overlapped --control transfer
