regal inspect graphs/training_step.json --roofline potato --dim batch=8 --loops cut | tail -1
