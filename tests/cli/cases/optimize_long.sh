# With no budget given, a graph above 30,000 ops is announced; with one it is not.
{
  printf '{"regal_graph": 1, "ops": ['
  seq -f '{"name": "o%.0f", "run_ns": 1},' 1 59999
  printf '{"name": "last", "run_ns": 1}]}'
} > many.json
regal optimize many.json --bandwidth 1GB --threads 1 | grep -e '^graph' -e '^stopped'
regal optimize many.json --bandwidth 1GB --threads 1 --evaluations 10 | grep '^stopped'
