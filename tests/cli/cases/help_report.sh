regal report --help
