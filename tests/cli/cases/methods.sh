regal methods
