# A second run does not replace the files of the first by accident.
regal generate plain --count 10 --nodes 30 -q > /dev/null
regal dataset split plain -o set.zip -q > /dev/null
train() {
  regal train set.zip -o my.policy --steps 1 --graphs-per-step 2 --samples 2 \
    --valid-graphs 0 --state-width 8 -q "$@" > out
  echo "exit $?"
}
train
cksum my.policy* > before
train --seed 2
cksum my.policy* | cmp - before && echo untouched
train --seed 2 --resume --overwrite
train --seed 2 --resume
train --resume
train --seed 2 --overwrite
cksum my.policy | cmp -s - before || echo replaced
