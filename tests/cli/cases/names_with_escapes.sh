# Names from files do not reach the terminal as they are: no escape sequence,
# no bell, no second line.
mkdir set
esc=$(printf '\033[31m\007')
c1=$(printf '\302\233')
cp graphs/diamond.pbtxt set/a.pbtxt
printf 'name,file,family,split\n"x%s""y,z\nw%s\377é",a.pbtxt,"f%s","s%s,"\n' \
  "$esc" "$c1" "$esc" "$esc" > set/index.csv
sed "s/name: *[\"']/&$esc$c1/" graphs/diamond.pbtxt > ops.pbtxt
show() {
  LC_ALL=C grep -a "$@" -P '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xff'
}
regal dataset list set
regal dataset describe set --figures figures | tail -n +2 | wc -l
cat figures/graphs.csv
regal dataset pack set -o packed -q
for command in "inspect ops.pbtxt" "optimize ops.pbtxt -o plan --timeline --threads 1" \
  "evaluate ops.pbtxt plan --timeline" "inspect set:nothing" \
  "optimize ops.pbtxt --pin *x=7" "train set -o p"; do
  timeout 20 regal $command > out 2>&1
  echo "$command: $(show -c < out)"
done
regal inspect "set:no$esc$c1"
