# A file that TensorFlow wrote, untouched.
regal inspect samples/tf/ref_variables_train.pb
