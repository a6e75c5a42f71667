# A policy for two devices also serves other numbers of devices.
for devices in 1 3 4 8; do
  for objective in runtime memory; do
    regal optimize data/demo/hf_gpt_neox_train.pb --method regal -q \
      --devices $devices --objective $objective --evaluations 600 |
      grep -E '^(account|machine)'
  done
done
