regal pipeline --help
