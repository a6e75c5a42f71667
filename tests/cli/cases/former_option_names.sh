# Former names of options work as before, and are shown nowhere.
regal optimize graphs/diamond.pbtxt --method multilevel --evaluations 200 \
  --fall 0.5 --fresh 0.2 -q --json > former
regal optimize graphs/diamond.pbtxt --method multilevel --evaluations 200 \
  --level-cooling 0.5 --single-start-share=0.2 -q --json > present
sed -i 's/"seconds": [^,]*//' former present
cmp former present && echo same
regal optimize graphs/diamond.pbtxt --fall 2
regal train nowhere -o x.policy --neutral 200
for page in "optimize --help" "train --help" options; do
  # shellcheck disable=SC2086
  regal $page | grep -E -- '--(fall|fresh|neutral)\b'
done
exit 0
