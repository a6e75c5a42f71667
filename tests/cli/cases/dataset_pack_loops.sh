# How a graph was read is kept with it.
regal dataset pack graphs/cycle.pbtxt -o x.zip
regal dataset pack samples/tf/while_cond_v2_infer.pb --loops cut -o loop.zip
regal inspect loop.zip:while_cond_v2_infer | head -1
