# Devices are called by their names in all tables.
regal evaluate graphs/diamond.pbtxt graphs/diamond.order \
  --machine rtx4090x2-pcie | grep -e gpu
