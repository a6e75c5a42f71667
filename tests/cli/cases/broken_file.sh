regal inspect graphs/broken.pbtxt
