# What the handmade rule chooses, as a summary, as JSON and as a table.
graph=data/demo/hf_gpt_neox_train.pb
regal actions "$graph" --devices 2 --policy rule-depth -q -o table.csv
regal actions "$graph" --devices 2 --policy rule-depth -q --json
head -3 table.csv
wc -l < table.csv
regal actions "$graph" --devices 2 --policy nowhere.policy -q
