regal generate set --count 2 --nodes 20 --seed 5 -q >/dev/null
regal bench set --methods heft -q -o runs.csv >/dev/null
regal bench set
regal bench set --methods heft --devices 3 -o runs.csv
sed -i 2s/^[^,]*/abcdef/ runs.csv
regal bench set --methods heft -o runs.csv 2>&1 | sed 's/this is [^:]*/this is BUILD/'
regal bench set --methods heft --mix -q -o runs.csv
regal bench set --methods heft --overwrite -q -o runs.csv
regal bench set runs.csv --report report
regal bench none.csv --report report
regal bench runs.csv --report report -o other.csv
