# Pins of a plan are ids, which mean nothing in another graph.
regal optimize graphs/diamond.pbtxt -q --pin 'a=1' --method heft -o plan.json \
  > report
regal optimize graphs/training_step.json -q --start plan.json
regal optimize graphs/training_step.json -q --machine plan.json
