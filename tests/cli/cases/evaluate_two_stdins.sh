regal evaluate - -
