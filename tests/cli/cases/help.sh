regal --help
