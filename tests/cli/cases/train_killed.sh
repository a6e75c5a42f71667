# Runs that are killed and resumed, four times: the log has each row once, and
# the policy is the one of a run that nobody disturbed.
regal generate plain --count 10 --nodes 30 -q > /dev/null
regal dataset split plain -o set.zip -q > /dev/null
train() { # OUTPUT OPTION...
  exec regal train set.zip -o "$@" --steps 1500 --graphs-per-step 2 --samples 2 \
    --episode-evaluations 20 --valid-every 300 --valid-graphs 2 --threads 1 \
    --valid-evaluations 300 --state-width 8 -q --checkpoint-every 0
}
(train whole.policy > /dev/null)
rows() { cut -d, -f1,3-8 "$1" | sort | uniq -c; }

again=
for kill in 1 2 3 4; do
  touch mark
  train killed.policy $again > /dev/null &
  job=$!
  until [ killed.policy.csv -nt mark ] && [ killed.policy.checkpoint -nt mark ]
  do
    kill -0 $job || break
    sleep 0.02
  done
  sleep 0.0$kill
  kill -KILL $job || echo "the run ended before it was killed"
  wait $job 2> /dev/null
  again=--resume
done 2> /dev/null
(train killed.policy --resume > /dev/null)
rows whole.policy.csv > whole
rows killed.policy.csv > killed
diff whole killed && wc -l < killed
cmp whole.policy killed.policy && echo same policy
