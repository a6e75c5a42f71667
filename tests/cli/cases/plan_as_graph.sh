regal optimize graphs/diamond.pbtxt --method single -q -o diamond.plan > text
regal inspect diamond.plan
