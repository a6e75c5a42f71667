regal help evaluate
