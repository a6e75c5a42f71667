regal evaluate graphs/diamond.pbtxt nowhere.plan
