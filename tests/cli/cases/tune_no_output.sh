regal tune set
