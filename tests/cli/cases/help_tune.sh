regal tune --help
