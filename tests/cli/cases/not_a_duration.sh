regal optimize graphs/diamond.pbtxt --latency 10parsecs
