# By pattern and by the name of a device; evaluate knows the pins from the plan.
regal optimize graphs/diamond.pbtxt -q --machine rtx4090x2-pcie --threads 1 \
  --pin '*=gpu1' --pin 'a=0' -o plan.json > report
grep -E '^(machine|gpu)' report
grep -A1 '"pins"' plan.json
regal evaluate graphs/diamond.pbtxt plan.json -q | head -1
sed 's/"device": 1}/"device": 0}/' plan.json > wrong.json
regal evaluate graphs/diamond.pbtxt wrong.json -q
