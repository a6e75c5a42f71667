# A search that starts from a plan goes on with the plan's machine.
regal optimize graphs/three.pbtxt --devices 3 --latency 1us --bandwidth 1TB/s \
  --method heft -q -o three.plan > report
regal optimize graphs/three.pbtxt --start three.plan --method random \
  --evaluations 1 | grep '^machine'
# Options override it, and the message says where they disagree.
regal optimize graphs/three.pbtxt --start three.plan --method random \
  --evaluations 1 --latency 2us | grep '^machine'
sed 's/"device": 0/"device": 2/' three.plan > high.plan
regal optimize graphs/three.pbtxt --start high.plan --devices 2 -q
regal evaluate graphs/three.pbtxt high.plan --devices 2 -q
# From a pipe, and a plan with a machine of its own.
regal optimize graphs/three.pbtxt --start - --method random --evaluations 1 \
  -q < <(cat three.plan) | grep '^machine'
regal optimize graphs/three.pbtxt --machine a100x4-pcie --method heft -q \
  -o four.plan > report
regal optimize graphs/three.pbtxt --start four.plan --method random \
  --evaluations 1 | grep '^machine'
# Names of ops in an order.
printf 'a\nlayer/b_2 1 # on the second device\n1\nd\n' > names.order
regal evaluate graphs/diamond.pbtxt names.order -q | grep '^VALID'
