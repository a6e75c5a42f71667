regal optimize graphs/diamond.pbtxt --threads 1 --method heft -q -o - \
  2> /dev/null | head -c 300 > cut.plan
regal evaluate graphs/diamond.pbtxt cut.plan
