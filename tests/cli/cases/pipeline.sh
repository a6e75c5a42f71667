# Two microbatches. layer2_weight_grad is tied to layer2_input_grad, which does
# not start before it. The mask is shared, because it depends on no data.
regal pipeline graphs/training_step.json --microbatches 2 --accumulate-bandwidth 1GB -o - --format json
