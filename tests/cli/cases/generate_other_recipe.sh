regal generate set --count 1 --seed 5 -q > /dev/null
regal generate set --count 1 --seed 6
