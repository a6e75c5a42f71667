regal help dataset split
