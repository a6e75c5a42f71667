# XLA's figures, as 'inspect --json' has them. A text has no report of XLA.
exec 2>log
modules=samples/../hlo/good
keep() {
  grep -e schedule_peak -e reported_peak
}
regal inspect $modules/step.hlo.pb --json | keep
for module in step.hlo.pb step.txt; do
  regal optimize $modules/$module --devices 1 --evaluations 10 -q -o plan.json >log
  keep <plan.json
  regal evaluate $modules/$module plan.json --json | keep
done
regal evaluate graphs/diamond.pbtxt graphs/diamond.order --json | keep || echo none
