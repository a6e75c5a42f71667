# The optimizer runs once: it reads sums, and what it reads is a gradient though
# it is not final. The loss stays a result of each microbatch.
python3 - <<'END'
import json
step = json.load(open("graphs/training_step.json"))
step["ops"][-1:] = [
    {"name": "sgd/rate", "run_ns": 1000, "outputs": [{"bytes": 4}]},
    {"name": "sgd/1", "run_ns": 2000, "outputs": [{"bytes": 4800, "final": True}],
     "inputs": ["layer1_weight_grad", "layer1_bias_grad", "sgd/rate"], "resident_bytes": 4800},
    {"name": "sgd/2", "run_ns": 3000, "control": ["sgd/1"],
     "inputs": ["layer2_weight_grad", ["layer2_norm_grad", 1]]}]
step["ops"][3]["inputs"].append("sgd/rate")  # a constant, and equal to it
for op in step["ops"][:-2]:
    if op["name"] != "loss":
        op["outputs"] = [{"bytes": t["bytes"]} for t in op.get("outputs", [])]
json.dump(step, open("step.json", "w"))
END
regal pipeline step.json --microbatches 2 --optimizer 'sgd/*' -o pipe.json
grep -E '"(loss#|sgd)|accumulate#' pipe.json
# A gradient that is not named is not added up.
regal pipeline graphs/training_step.json --microbatches 2 --gradients '*_weight_grad,*norm*' -q -o named.json
grep -E 'layer1_bias' named.json
# Data by name.
regal pipeline graphs/training_step.json --microbatches 2 --inputs 'data,mask' -q -o all.json
grep -c '#1"' all.json
# Pins and groups hold for all copies.
sed 's/"name": "layer1_bias_grad"/&, "device": 1, "group": "bias"/' graphs/training_step.json > pinned.json
regal pipeline pinned.json --microbatches 2 -q -o pinned_pipe.json
grep -o '"name": "layer1_bias.*run_ns\|"device.*' pinned_pipe.json
