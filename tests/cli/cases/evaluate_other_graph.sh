regal optimize graphs/diamond.pbtxt --threads 1 --method single -q -o a.plan \
  > /dev/null
regal evaluate graphs/three.pbtxt a.plan
