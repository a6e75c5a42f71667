regal dataset deduplicate -h
