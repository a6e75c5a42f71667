# Every way to get the shape wrong.
for shape in layers=2 layers=2,microbatches=0 layers=2,microbatches=2,width=3 \
  layers=2,layers=2,microbatches=2 layers=2,microbatches=2,forward=fast \
  layers=2,microbatches=2,wire layers=2,microbatches=2,fused=maybe \
  layers=1000000,microbatches=1000000 layers=1,, \
  layers=1,microbatches=1,backward=9e18ns; do
  regal generate --pipeline "$shape" -o pipe.json
done
regal generate --pipeline layers=2,microbatches=2
regal generate folder --pipeline layers=2,microbatches=2
regal generate
ls
