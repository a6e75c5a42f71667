regal optimize --devices 2
