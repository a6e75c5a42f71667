regal dataset pack --help
