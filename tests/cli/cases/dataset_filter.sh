regal dataset filter data/xla.zip -o runtime.zip
regal dataset filter data/xla.zip -o memory.zip --objective memory
