# A small file that inflates to a large one, by both compressions, and input
# without end: refused at the limit, with little memory.
head -c 30000000 /dev/zero | gzip -9 > bomb.pb.gz
# Sanitizers reserve more address space than any limit leaves them.
if { (ulimit -v 400000 && regal --version); } > /dev/null 2>&1; then
  ulimit -v 400000
fi
try() {
  timeout 20 regal inspect "$@"
  echo "exit $?"
}
wc -c < bomb.pb.gz | awk '{ print ($1 < 40000 ? "small" : "large") }'
try bomb.pb.gz --max-input 20MiB
try bomb.pb.gz --max-input 1000
try /dev/zero --max-input 20MiB
yes | try - --max-input 20MiB
try graphs/diamond.pbtxt --max-input 100 --json
regal inspect graphs/diamond.pbtxt --max-input 0 | head -n 1
yes | timeout 20 regal evaluate graphs/diamond.pbtxt - --max-input 1MiB
