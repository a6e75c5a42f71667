regal dataset describe --help
