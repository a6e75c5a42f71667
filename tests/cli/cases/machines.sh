regal machines
