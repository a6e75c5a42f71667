regal --version
