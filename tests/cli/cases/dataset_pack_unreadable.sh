regal dataset pack graphs/three.pbtxt graphs/broken.pbtxt -o x.zip
