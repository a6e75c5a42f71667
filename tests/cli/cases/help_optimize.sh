regal optimize --help
