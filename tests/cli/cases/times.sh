regal optimize graphs/diamond.pbtxt -q --method heft --devices 1 --times -o a.plan > /dev/null
sed -n '/"steps"/,$p' a.plan
regal optimize graphs/diamond.pbtxt -q --method heft --devices 1 --times --json | grep -c start_ns
regal optimize graphs/diamond.pbtxt -q --method heft --devices 1 --json | grep -c start_ns
regal evaluate graphs/diamond.pbtxt a.plan --json | grep -c end_ns
