# Symbolic links are written through by every kind of output, also when nothing
# is there yet, and names may be as long as they can be.
mkdir real set
cp graphs/diamond.pbtxt set
for name in plan.json trace graph.json set.zip folder machine.json; do
  ln -s "real/$name" "$name"
done
regal optimize graphs/diamond.pbtxt -q --threads 1 -o plan.json --trace trace > /dev/null
regal convert graphs/diamond.pbtxt -q -o graph.json
regal dataset pack set -q -o set.zip
regal dataset pack set -q -o folder
regal machines a100x4-pcie -o machine.json
ls real
for name in plan.json trace graph.json set.zip folder machine.json; do
  test -L "$name" || echo "$name is no link any more"
done
chmod 600 real/set.zip
regal dataset pack set -q -o set.zip
stat -c %a real/set.zip

long=$(printf 'n%.0s' $(seq 240))
regal convert graphs/diamond.pbtxt -q -o "$long-------.json" && ls | grep -c -- -------.json
regal dataset pack set -q -o "$long-----------.zip" && ls | grep -c -- -----------.zip
regal dataset pack set -q -o "$long---------------" && ls | grep -c -- '---------------$'
