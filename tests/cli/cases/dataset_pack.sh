# Graph files into an archive, and that into a folder: the same index.
cp graphs/diamond.pbtxt graphs/diamond.order graphs/three.pbtxt .
gzip -n three.pbtxt
regal dataset pack diamond.pbtxt three.pbtxt.gz -o two.zip
regal dataset pack two.zip -o two
ls two
cat two/index.csv
regal dataset pack two -o again.zip -q
cmp two.zip again.zip && echo same
