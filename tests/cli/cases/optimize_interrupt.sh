# Ctrl-C ends a search that would take a minute, and the plan is still written.
timeout --preserve-status -s INT 1 regal optimize graphs/three.pbtxt \
  --threads 2 --method brkga --time 60 --restart 5 --bandwidth 1B/s \
  -o best.plan > summary
echo "exit $?"
grep '^stopped' summary
regal evaluate graphs/three.pbtxt best.plan > explained && head -1 explained
