# A disk that is full, or rather a file that may not grow: the reason is told,
# and nothing is left behind.
mkdir set
for i in 1 2 3 4 5 6 7 8; do
  cp graphs/diamond.pbtxt set/graph-with-quite-a-long-name-$i-$(printf 'x%.0s' $(seq 200)).pbtxt
done
regal dataset pack set -q -o packed.zip
(
  ulimit -f 1
  regal dataset describe packed.zip --figures figures > /dev/null
  echo "exit $?"
  regal convert data/demo/hf_gpt_neox_train.pb -q -o graph.json
  echo "exit $?"
  regal dataset pack set -q -o again.zip
  echo "exit $?"
  regal dataset pack data/demo -q -o again
  echo "exit $?"
)
ls
ls figures
regal optimize graphs/diamond.pbtxt -q --threads 1 -o /dev/full
regal optimize graphs/diamond.pbtxt -q > /dev/full
mkdir -p folder/train && cp graphs/diamond.pbtxt folder/train
regal train folder --steps 1 --graphs-per-step 1 --samples 2 --valid-graphs 0 \
  --episode-evaluations 20 --threads 1 -q -o policy --log /dev/full
