# An output that is an input or another output, by whatever name, is refused
# before anything runs; files stay as they are.
cp graphs/diamond.pbtxt g.pbtxt
chmod u+w g.pbtxt
before=$(cksum < g.pbtxt)
mkdir folder
cp g.pbtxt folder/a.pbtxt
cp g.pbtxt folder/b.pbtxt
echo file > folder/index.csv
printf 'a.pbtxt\nb.pbtxt\n' >> folder/index.csv
ln -s g.pbtxt link
ln g.pbtxt hard
ln -s new dangling
regal dataset pack folder -o set.zip -q

try() {
  timeout 20 regal "$@"
  echo "exit $?"
}
try optimize g.pbtxt -o g.pbtxt
try optimize ./g.pbtxt -o "../$(basename "$PWD")/link"
try convert g.pbtxt --format json -o hard
try optimize g.pbtxt -o s --trace ./s
try optimize g.pbtxt -o new --trace dangling
try optimize g.pbtxt --start hard -o p --trace link
try optimize g.pbtxt --machine m.json -o - --trace -
try optimize set.zip:a -o set.zip
try optimize folder:a~2 -o folder/a.pbtxt
try optimize folder:a -o folder/index.csv
try dataset describe folder --figures folder/b.pbtxt
try dataset pack set.zip -o set.zip
try train folder -o p --log p.checkpoint
try train folder -o p --plot p.csv
try train folder -o p --log p
try tune folder -o folder/index
try evaluate g.pbtxt link --trace g.pbtxt
try optimize - --machine -
[ "$before" = "$(cksum < g.pbtxt)" ] && echo unchanged
ls

# What only looks like it.
timeout 20 regal optimize g.pbtxt -q -o /dev/null --trace /dev/null > /dev/null
timeout 20 regal optimize folder:a -q -o folder/b.plan > /dev/null
timeout 20 regal optimize folder:a -q -o folder/b.pbtxt --json > /dev/null
