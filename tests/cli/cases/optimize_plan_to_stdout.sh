# The plan takes stdout, so the summary goes to stderr.
regal optimize graphs/diamond.pbtxt --threads 1 -o -
