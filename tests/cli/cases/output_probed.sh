# A path that cannot be written is noticed before the search, which would take
# an hour.
optimize() {
  timeout 20 regal optimize graphs/diamond.pbtxt --method random --time 1h \
    --restart 1 --bandwidth 1B/s -q "$@"
  echo "exit $?"
}
mkdir folder
touch file
optimize -o nowhere/plan
optimize -o folder
optimize -o file/plan
optimize -o new/
optimize -o plan --trace nowhere/trace
optimize --html folder
optimize -o "$(printf 'x%.0s' {1..300})" 2>&1 | sed 's/xx*/x/'
regal tune graphs -o nowhere/settings
regal train graphs -o plan --log nowhere/log
regal convert graphs/diamond.pbtxt -o nowhere/x.json
ls
