# Settings that need more memory than the budget of evaluations could use, or
# than --max-memory, are refused before the run.
graph=data/demo/hf_gpt_neox_train.pb
huge="--population 1000000 --islands 1024"
regal optimize $graph --method brkga $huge
echo "exit $?"
regal optimize $graph --method brkga $huge --time 1 --max-memory 8GiB
echo "exit $?"
regal optimize $graph --max-memory 300kB 2> message
echo "exit $?"
sed 's/found .* in use/found SOME in use/' message
regal optimize $graph --method brkga --evaluations 100 --max-memory 8MB \
 -q > plan && echo "enough"
