# The folder of the plan is gone when the search ends: the summary is printed,
# and the plan is in a file of the current folder.
mkdir away
regal optimize graphs/three.pbtxt --method random --time 1 --bandwidth 1B/s \
  --restart 1 -q -o away/plan > report &
sleep 0.4
rmdir away
wait $!
echo "exit $?"
grep -E '^(graph|machine)' report
regal evaluate graphs/three.pbtxt regal-rescue-1.plan -q | head -1
