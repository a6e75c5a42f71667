regal dataset list graphs/three.pbtxt --json
