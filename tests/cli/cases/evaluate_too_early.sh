regal evaluate graphs/diamond.pbtxt graphs/too_early.order
