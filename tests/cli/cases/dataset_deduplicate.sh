regal dataset deduplicate data/tf.zip -o unique.zip
