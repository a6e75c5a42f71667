# XLA's own order on one device, and what becomes of it.
regal evaluate samples/xla/gnn_grad_unfused.pb samples/xla/gnn_grad_unfused.order \
  --devices 1 --objective memory --json | sed '/"steps"/,$d'
