# What XLA writes over an input lowers the peak of its order; so do the marks of
# a file from TensorFlow. The reader says what it assumed.
order() {
  regal evaluate samples/xla/$1.pb samples/xla/$1.order --devices 1 --json \
    --quiet "${@:2}" | grep '"cost"'
}
order vit_train
order vit_train --aliases xla
regal inspect samples/xla/vit_train.pb --aliases xla | sed -n '/^reader notes/,$p'
for aliases in ignore share reuse; do
  regal inspect samples/tf/vae_train.pb --aliases $aliases | sed -n '/^reader notes/,$p'
done
regal inspect samples/tf/vae_train.pb --aliases
