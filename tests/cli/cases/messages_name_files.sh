# Errors that are found late still name the file.
regal optimize graphs/diamond.pbtxt -q --threads 1 -o plan > /dev/null
python3 - <<'END'
import json
plan = json.load(open("plan"))
for steps, name in ((0, "empty.plan"), (1, "short.plan")):
    json.dump(plan | {"steps": plan["steps"][:steps]}, open(name, "w"))
END
regal optimize graphs/diamond.pbtxt -q --start empty.plan
regal optimize graphs/diamond.pbtxt -q --start - < short.plan
regal optimize graphs/diamond.pbtxt -q --latency 2000000000s --bandwidth 1B/s
regal optimize data/torch.zip:hf_gpt2_train -q --latency 2000000000s --devices 64
