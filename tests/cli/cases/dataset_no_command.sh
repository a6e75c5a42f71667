regal dataset
