# An input that never comes: the first signal ends the program.
mkfifo never
sleep 2 | timeout -k 5 -s INT 0.5 regal optimize graphs/diamond.pbtxt --start - -q
echo "stdin: $?"
timeout -k 5 -s TERM 0.5 regal optimize graphs/diamond.pbtxt --costs never -q
echo "fifo: $?"
# ThreadSanitizer holds signals back while open() blocks.
if grep -q __tsan_init "$(readlink -f "$(command -v regal)")"; then
  echo "machine: 124"
else
  timeout -k 5 -s INT 0.5 regal optimize graphs/diamond.pbtxt --machine never -q
  echo "machine: $?"
fi
timeout -k 5 -s INT 0.5 regal optimize never -q
echo "graph: $?"
