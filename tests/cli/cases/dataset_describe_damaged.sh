head -c 5000 data/xla.zip > cut.zip
regal dataset describe cut.zip
