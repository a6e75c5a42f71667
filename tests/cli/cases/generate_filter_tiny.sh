# No graph of five nodes passes: BRKGA finds the best plans of all of them in its
# first 1000 evaluations. Nothing is left of the attempt.
regal generate set --count 40 --filter --nodes 5 --threads 2 --quiet
code=$?
test -e set && ls set
exit $code
