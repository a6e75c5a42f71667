# The start is already optimal: nothing better, nothing worse comes out.
regal optimize graphs/diamond.pbtxt --threads 1 --method random \
  --evaluations 1 --start graphs/diamond.order --json
