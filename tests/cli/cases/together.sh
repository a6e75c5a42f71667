# One group for each pattern; the plan has them.
regal optimize graphs/diamond.pbtxt -q --threads 1 --together 'layer/*,[ad]' \
  -o plan.json > report
grep -A1 '"groups"' plan.json
regal evaluate graphs/diamond.pbtxt plan.json -q | head -1
