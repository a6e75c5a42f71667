# An option on the command line wins over the plan's file.
regal optimize graphs/diamond.pbtxt --threads 1 --method heft -q -o a.plan \
  > /dev/null
regal evaluate graphs/diamond.pbtxt a.plan --latency 5us | grep '^machine'
