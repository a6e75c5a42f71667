regal optimize - --start -
