regal methods > /dev/full
