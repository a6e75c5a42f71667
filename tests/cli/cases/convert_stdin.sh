regal convert - --format text -o - < graphs/three.pbtxt
