regal generate set --count 2 --nodes 20 --seed 5 -q >/dev/null
regal tune set --decoder batched --evaluations 50 -o one.json -q >/dev/null
regal tune set --decoder batched --evaluations 51 -o one.json -q
