regal optimize graphs/diamond.pbtxt -q --evaluations 50 --threads 1 -o a.plan --html a.html | grep -c quality
regal report graphs/diamond.pbtxt a.plan graphs/diamond.order -q -o b.html
regal evaluate graphs/diamond.pbtxt a.plan --json --html c.html | grep -c regal_plan
for page in a.html b.html c.html; do
  tail -c 8 $page
  grep -c '^"plans"' $page
  grep -o '"name":"[^"]*"' $page | grep -v '""'
done
