regal inspect graphs/unmeasured.pbtxt
