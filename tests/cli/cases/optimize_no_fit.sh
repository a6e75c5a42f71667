# Exit code 3, and the plan with the least excess is written all the same.
regal optimize graphs/diamond.pbtxt --threads 1 --memory-limit 1KiB \
  --method single -o best.plan
code=$?
grep -c '"id"' best.plan
exit $code
