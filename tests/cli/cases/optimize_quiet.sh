regal optimize graphs/unmeasured.pbtxt --threads 1 --method single -o loud.plan > loud
regal optimize graphs/unmeasured.pbtxt --threads 1 --method single -q > quiet
sed '/^search/d' loud > loud.fixed
sed '/^search/d' quiet | diff loud.fixed - && echo same
