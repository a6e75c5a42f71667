regal dataset list data/xla.zip --split valid | head -5
