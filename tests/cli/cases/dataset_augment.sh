regal dataset augment graphs/diamond.pbtxt --copies 3 --seed 7 -o d.zip
regal inspect d.zip:diamond~1 | head -3
regal convert d.zip:diamond~1 -o one.json && regal convert d.zip:diamond~1 -o two.json
cmp one.json two.json && echo same
