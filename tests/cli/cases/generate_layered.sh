regal generate set --count 1 --model layered --nodes 2000 --width 40 \
  --format binary
regal inspect set/graph_*.pb | head -n 4
