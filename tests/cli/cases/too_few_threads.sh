# The system refuses most threads: the others do the work, to the same plan, and
# a line says so. Then, with less and less memory, down to where the libraries
# cannot be loaded (127), the program ends with a message and no signal.
# Sanitizers reserve more address space than any limit leaves them.
limited() {
  (ulimit -s 8192 && ulimit -v 200000 && exec regal "$@")
}
regal optimize graphs/diamond.pbtxt -q --method brkga --threads 1 -o one > /dev/null
if limited --version > /dev/null 2>&1; then
  limited optimize graphs/diamond.pbtxt --method brkga --threads 64 -o few 2>&1 > /dev/null |
    sed -n 's/start [0-9]* threads/start N threads/p'
  for kilobytes in $(seq 20000 100 24000); do
    (ulimit -c 0; ulimit -v $kilobytes; exec regal inspect graphs/diamond.pbtxt) > out 2>&1
    code=$?
    case $code in
    0 | 127) ;;
    2) grep -q '^regal: out of memory$' out || echo "$kilobytes: no message" ;;
    *) echo "$kilobytes: $code" ;;
    esac
  done
else
  cp one few
  echo "warning: the system refused to start N threads; the others did the work"
fi
diff <(sed 's/"threads": [0-9]*//; s/"seconds": [0-9.e-]*//' one) \
  <(sed 's/"threads": [0-9]*//; s/"seconds": [0-9.e-]*//' few) && echo same
