regal evaluate graphs/diamond.pbtxt graphs/diamond.order --trace - \
  2> /dev/null | python3 -c 'import json, sys; json.load(sys.stdin); print("JSON")'
