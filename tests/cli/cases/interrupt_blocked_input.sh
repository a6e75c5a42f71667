# An input that never comes: the first signal ends the program.
mkfifo never
sleep 2 | timeout -k 5 -s INT 0.5 regal optimize graphs/diamond.pbtxt --start - -q
echo "stdin: $?"
timeout -k 5 -s TERM 0.5 regal optimize graphs/diamond.pbtxt --start never -q
echo "fifo: $?"
timeout -k 5 -s INT 0.5 regal optimize graphs/diamond.pbtxt --machine never -q
echo "machine: $?"
timeout -k 5 -s INT 0.5 regal optimize never -q
echo "graph: $?"
