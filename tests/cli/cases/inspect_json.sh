regal inspect graphs/unmeasured.pbtxt --json
