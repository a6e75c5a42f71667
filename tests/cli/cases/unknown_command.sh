regal optimise graphs/diamond.pbtxt
