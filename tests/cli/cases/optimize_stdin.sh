regal optimize - --threads 1 --method heft < graphs/diamond.pbtxt > one
gzip -c graphs/diamond.pbtxt | regal optimize - --threads 1 --method heft > two
sed 's/^search .*//' one > one.fixed
sed 's/^search .*//' two | diff one.fixed - && echo same
