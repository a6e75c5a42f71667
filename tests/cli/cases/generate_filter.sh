# The index has the costs that brkga finds with the graph's own seed.
regal generate set --count 1 --filter --json
seed=$(tail -n 1 set/index.csv | cut -d, -f9)
tail -n 1 set/index.csv | cut -d, -f10,11
for evaluations in 1000 10000; do
  regal optimize set/graph_*.pbtxt --method brkga --seed $seed \
    --evaluations $evaluations --json | grep -o '"cost": {"runtime_ns": [0-9]*'
done
