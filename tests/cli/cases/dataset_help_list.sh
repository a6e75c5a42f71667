regal dataset list --help
