# Two layers, two microbatches; then with one op for both gradients.
regal generate --pipeline layers=2,microbatches=2,forward=3us,backward=4us,weight=2us,optimizer=1us,activation=500,weight-activation=300,wire=20,parameter=7KB -o - --format json
regal generate --pipeline layers=2,microbatches=1,fused,forward=3us -o fused.json
cat fused.json
