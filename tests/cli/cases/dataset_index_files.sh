# The column `reading` of an index names files inside the dataset, and no
# others: nothing outside is opened, whatever it is.
printf 'name,microseconds\n/block/q,20\n/block/k,20\n' > outside.csv
echo secret > secret
mkfifo fifo
mkdir set
cp samples/onnx/transformer.onnx set/m.onnx
cp outside.csv set/times.csv
ln -s ../secret set/link.csv
mkfifo set/fifo.csv

index() {
  printf 'file,reading\nm.onnx,dim=batch=8,seq=128 %s\n' "$1" |
    sed -E '2s/,(.*)$/,"\1"/' > set/index.csv
}
try() {
  index "$1"
  echo "$1"
  timeout 5 regal inspect set:m 2>&1 | grep -e regal: -e 'run times'
  (cd set && python3 -m zipfile -c ../set.zip m.onnx times.csv index.csv)
  timeout 5 regal inspect set.zip:m 2>&1 | grep -e regal: -e 'run times'
}
try roofline=a100
try costs=times.csv
try costs=/etc/passwd
try costs=../secret
try costs=secret
try costs=link.csv
try costs=fifo.csv
try costs=/dev/zero
try roofline=/dev/zero
try roofline=secret
try roofline=-
try max-input=0

# What the user gives goes along.
index roofline=a100
mkdir given
cp outside.csv given/times.csv
regal dataset pack set/m.onnx --dim batch=8,seq=128 --costs given/times.csv -q -o out.zip
regal dataset pack out.zip -q -o unpacked
ls unpacked
regal inspect out.zip:m | grep 'run times'
regal dataset pack set --costs set/times.csv -q -o out
grep -o 'costs=.*cut\|costs=[a-z.]*' out/index.csv
regal inspect out:m | grep 'run times'
