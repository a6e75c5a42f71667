regal dataset --help
