regal generate --help
