# Without ties, three microbatches: gradients are added to the sum so far.
regal pipeline graphs/training_step.json --microbatches 3 --split-backward -q -o pipe.json
grep -E 'layer2_(input|weight)_grad' pipe.json
regal pipeline graphs/training_step.json --microbatches 1 -q -o one.json
cut -c 1-90 one.json
