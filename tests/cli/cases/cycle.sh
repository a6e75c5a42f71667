regal inspect graphs/cycle.pbtxt
