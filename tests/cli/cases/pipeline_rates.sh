# Bubble rate and throughput in all reports; only for pipelines.
regal generate --pipeline layers=4,microbatches=8,fused -o pipe.json
regal inspect pipe.json | grep pipeline
regal inspect pipe.json --json | grep micro
regal optimize pipe.json --devices 4 --transfers overlapped --method 1f1b -o pipe.plan | grep pipeline
regal evaluate pipe.json pipe.plan | grep pipeline
regal evaluate pipe.json pipe.plan --json | grep pipeline
regal optimize graphs/diamond.pbtxt --json | grep -c pipeline
regal inspect graphs/diamond.pbtxt | grep -c pipeline
