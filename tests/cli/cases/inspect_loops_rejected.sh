regal inspect samples/tf/lstm_lm_infer.pb
