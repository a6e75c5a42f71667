# Threads change nothing; the same command again has nothing left to do.
regal generate set --count 4 --nodes 20 --seed 5 -q >/dev/null
regal tune set --halving --decoder batched --evaluations 200 -o one.json -q
regal tune set --halving --decoder batched --evaluations 200 -o two.json \
  --threads 2 -q >/dev/null
cmp one.json two.json && cmp one.json.csv two.json.csv
regal tune set --halving --decoder batched --evaluations 200 -o one.json -q
cat one.json
regal optimize set/graph_77635d34d70f7e0a.pbtxt --method tuned \
  --settings one.json --evaluations 500 | grep account
