regal inspect graphs/diamond.pbtxt --help
