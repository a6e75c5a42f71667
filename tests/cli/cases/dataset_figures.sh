regal dataset describe data/xla.zip data/tf.zip --figures figures -q > table
wc -l < table
ls figures
head -4 figures/ops.csv
head -2 figures/graphs.csv
grep -c '<svg' figures/*.svg
