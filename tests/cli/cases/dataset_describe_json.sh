regal dataset describe data/xla.zip --json
