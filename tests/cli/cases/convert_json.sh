# Text, JSON, text: both texts are the same; JSON again: the same bytes.
regal convert graphs/diamond.pbtxt -o one.pbtxt &&
  regal convert one.pbtxt -o one.json &&
  regal convert one.json -o two.pbtxt &&
  cmp one.pbtxt two.pbtxt &&
  gzip -c one.json | regal convert - --format json -o two.json &&
  cmp one.json two.json && cat two.json
