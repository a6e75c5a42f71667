regal generate set
