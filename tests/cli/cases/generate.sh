# The same command again has nothing left to do; a larger count adds to it.
regal generate set --count 2 --nodes 20 --seed 5
regal generate set --count 2 --nodes 20 --seed 5
regal generate set --count 3 --nodes 20 --seed 5 --threads 2
cat set/recipe.txt set/index.csv
ls set | wc -l
head -n 12 set/graph_*.pbtxt | head -n 13 | tail -n 12
