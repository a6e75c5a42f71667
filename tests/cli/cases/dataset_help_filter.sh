regal dataset filter --help
