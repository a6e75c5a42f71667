regal inspect samples/tf/lstm_lm_infer.pb --loops cut --json
