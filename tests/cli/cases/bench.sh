# Rows of the table, without build and time; the same command again has nothing
# left to do; a report of it.
regal generate set --count 2 --nodes 20 --seed 5 -q >/dev/null
bench="regal bench set --budgets 50,200 --seeds 1,2 -q -o runs.csv"
$bench --methods 'brkga,heft,brkga population=20 evaluations=100'
cut -d, -f3-17 runs.csv
$bench --methods 'brkga,heft,brkga population=20 evaluations=100' --threads 2
$bench --methods 'brkga,heft' --objective memory | tail -n 1
regal bench runs.csv --report report --reference brkga@200
sed -E -e 's/^Build: [^.]*\./Build: COMMIT./' \
  -e 's/\| [0-9.]+ \| 2 \| \|$/| SECONDS | 2 | |/' report/report.md
ls report
