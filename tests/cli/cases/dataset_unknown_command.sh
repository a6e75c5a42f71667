regal dataset dedupe data/xla.zip
