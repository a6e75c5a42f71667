# Units as people write them; what comes out has those that went in.
for machine in "--memory-limit 80GB --bandwidth 300GB/s --latency 10us" \
  "--memory-limit 16Gi --bandwidth 200Gbit/s --latency 1.5ms"; do
  regal optimize graphs/diamond.pbtxt $machine --time 5s --method heft -q |
    grep -E '^(machine|device|peak)'
done
# A time without unit is an error, and so is a rate; bits are not bytes.
regal optimize graphs/diamond.pbtxt --latency 10
regal optimize graphs/diamond.pbtxt --bandwidth 25
regal optimize graphs/diamond.pbtxt --bandwidth 25Gb/s
# A target is of the objective's kind.
regal optimize graphs/diamond.pbtxt --target 2ms -q | grep stopped
regal optimize graphs/diamond.pbtxt --target 2
regal optimize graphs/diamond.pbtxt --target 2GB
regal optimize graphs/diamond.pbtxt --target 2ms --objective memory
