mkdir out && touch out/file
regal dataset pack graphs/three.pbtxt -o out
