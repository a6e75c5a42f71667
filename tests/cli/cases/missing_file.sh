regal optimize nowhere.pb
