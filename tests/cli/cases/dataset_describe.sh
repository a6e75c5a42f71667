regal dataset describe data/torch.zip data/tf.zip data/xla.zip
