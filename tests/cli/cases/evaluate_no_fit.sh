regal evaluate graphs/diamond.pbtxt graphs/diamond.order --memory-limit 1KiB \
  > explained
code=$?
grep '^limit' explained
exit $code
