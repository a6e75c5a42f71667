# How data/tf.zip was split: like the others, with seed 1.
regal dataset split data/tf.zip --like data/torch.zip --like data/xla.zip -o split.zip --seed 1
regal dataset split data/tf.zip -o other.zip --seed 5
for set in data/tf.zip split.zip other.zip; do
  regal dataset list $set --json > $(basename $set).list
done
cmp tf.zip.list split.zip.list && echo same
cmp -s tf.zip.list other.zip.list || echo other
regal dataset list split.zip --split test | head -4
