# Only the number of threads and the time differ.
for threads in 1 2 7; do
  regal optimize samples/torch/hf_albert_infer.pb --method brkga -q -o - \
    --evaluations 2000 --bandwidth 25GB --threads $threads 2> /dev/null |
    sed 's/"seconds": [0-9.e-]*//; s/"threads": [0-9]*//' > $threads
done
cmp 1 2 && cmp 1 7 && grep -c '"op"' 1
