# The file is the machine: plans on both are the same.
regal machines l4x4-pcie
regal machines l4x4-pcie -o l4.json
regal optimize graphs/diamond.pbtxt -q --machine l4x4-pcie --json |
  grep -v seconds > one
regal optimize graphs/diamond.pbtxt -q --machine l4.json --json |
  grep -v seconds > two
cmp one two
