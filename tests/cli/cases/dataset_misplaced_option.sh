regal dataset list data/xla.zip --copies 3
