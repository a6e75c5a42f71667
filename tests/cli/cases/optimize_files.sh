# Options after the graph, before it, with = and without; -- ends them.
regal optimize -qo diamond.plan --trace=diamond.json --threads 1 -- \
  graphs/diamond.pbtxt > summary || exit
ls
python3 -c 'import json; json.load(open("diamond.json"))' &&
  regal evaluate graphs/diamond.pbtxt diamond.plan --json
