regal dataset augment --help
