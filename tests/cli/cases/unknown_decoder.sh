regal optimize graphs/diamond.pbtxt --method brkga --decoder magic
