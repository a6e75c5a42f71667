regal inspect graphs/diamond.pbtxt
