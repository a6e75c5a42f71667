# A limit that no plan can exceed changes nothing about the search; a smaller
# one does, even if the plan is within it.
plan() {
  regal optimize samples/torch/hf_albert_train.pb --threads 1 --bandwidth 25GB \
    --evaluations 2000 -o - -q "$@" 2> errors | grep '"op"\|"tensor"' | sha256sum
}
without=$(plan)
[ "$(plan --memory-limit 100TB)" = "$without" ] && echo "100 TB: the same plan"
[ "$(plan --memory-limit 9GiB)" = "$without" ] || echo "9 GiB: another plan"
