regal convert -h
