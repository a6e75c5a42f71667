# A plan from a pipe, on the machine that its file names.
regal optimize graphs/diamond.pbtxt --threads 1 --method single --devices 3 \
  --latency 5us -q -o - 2> /dev/null |
  regal evaluate graphs/diamond.pbtxt - > piped
regal optimize graphs/diamond.pbtxt --threads 1 --method single --devices 3 \
  --latency 5us -q -o file.plan > /dev/null
regal evaluate graphs/diamond.pbtxt - < file.plan | diff piped - && echo same
grep '^machine' piped
