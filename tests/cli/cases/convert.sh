# Text, binary, text, binary: both binaries are the same bytes.
regal convert graphs/diamond.pbtxt -o one.pb &&
  regal convert one.pb -o two.pbtxt &&
  regal convert two.pbtxt --format binary -o - > two.pb &&
  cmp one.pb two.pb && cat two.pbtxt
