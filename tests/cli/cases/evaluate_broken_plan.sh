# A plan whose first transfer is left out.
regal optimize graphs/diamond.pbtxt --threads 1 --method heft -q -o - \
  2> /dev/null | sed '/"send": "a"/d' > broken.plan
regal evaluate graphs/diamond.pbtxt broken.plan
