regal optimize samples/../hlo/good/step.pb --devices 1 --objective memory --evaluations 100 --threads 1 -q -o best.order
cat best.order
regal evaluate samples/../hlo/good/step.hlo.pb best.order --devices 1 -q | grep -e memory -e XLA
regal optimize samples/../hlo/good/before.txt --devices 1 --start schedule -q
