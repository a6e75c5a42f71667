# SIGTERM, like Ctrl-C, keeps what is there, and says so.
regal generate set --paper 2> message &
job=$!
until [ -s set/index.csv.part ]; do sleep 0.05; done
kill -TERM $job
wait $job
echo "exit $?"
sed 's/after [0-9]*/after SOME/' message
ls set
