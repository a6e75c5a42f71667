regal help me
