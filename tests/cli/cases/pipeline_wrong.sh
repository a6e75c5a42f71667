regal pipeline graphs/training_step.json -o pipe.json
regal pipeline graphs/training_step.json --microbatches 4
regal pipeline graphs/training_step.json --microbatches 0 -o pipe.json
regal pipeline graphs/training_step.json --microbatches 4 --optimizer 'adam*' -o pipe.json
regal pipeline graphs/training_step.json --microbatches 4 --gradients 'layer1_wait_grad' -o pipe.json
regal pipeline graphs/training_step.json --microbatches 4 --inputs 'dat?,date' -o pipe.json
regal pipeline graphs/training_step.json --microbatches 2 -q -o twice.json
regal pipeline twice.json --microbatches 2 -o pipe.json
# Graphs without gradients, and without a backward pass.
regal pipeline graphs/diamond.pbtxt --microbatches 2 -q -o pipe.json
regal pipeline data/torch.zip:hf_gpt2_infer --microbatches 2 -q -o pipe.json
regal pipeline graphs/training_step.json --microbatches 1000000000 -o pipe.json
ls
