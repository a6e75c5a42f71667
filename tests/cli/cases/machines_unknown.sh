regal machines h100
