regal dataset pack data/xla.zip
