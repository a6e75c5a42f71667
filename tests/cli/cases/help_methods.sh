regal methods --help
