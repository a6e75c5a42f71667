regal optimize graphs/diamond.pbtxt --method bkrga
regal optimize graphs/diamond.pbtxt --method brkga --decoder clokc
regal optimize graphs/diamond.pbtxt --method simplex
