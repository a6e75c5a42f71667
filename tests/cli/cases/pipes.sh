# What can be read only once: costs count, what is read again is refused.
name_pipes() {
  sed 's#/dev/fd/[0-9]*#PIPE#'
}
regal inspect graphs/diamond.pbtxt --costs <(printf 'a,25\n') | tail -n 1 |
  name_pipes
regal inspect graphs/diamond.pbtxt --costs <(echo '{}') 2>&1 | name_pipes
regal evaluate graphs/diamond.pbtxt <(cat graphs/diamond.order) 2>&1 | name_pipes
regal optimize graphs/diamond.pbtxt --start <(cat graphs/diamond.order) 2>&1 |
  name_pipes
regal evaluate graphs/diamond.pbtxt - < <(cat graphs/diamond.order) | head -n 1
regal convert <(cat samples/onnx/transformer.onnx) --plan graphs/diamond.order \
  -o out.onnx
