regal convert graphs/diamond.pbtxt
