# An index that does not fit its files is noticed.
regal dataset pack graphs/three.pbtxt graphs/diamond.pbtxt -o set -q
cp graphs/diamond.pbtxt set/three.pbtxt
regal dataset pack set -o set.zip
