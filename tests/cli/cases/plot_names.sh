# Names that mean something to gnuplot, to a shell or to neither: each is a
# file, and no command runs.
mkdir -p set/train tmp && cp graphs/diamond.pbtxt graphs/three.pbtxt set/train
mkdir bin
printf '#!/bin/sh\ntouch "$HOME/ran"\n' > bin/hack && chmod +x bin/hack
export TMPDIR=$PWD/tmp HOME=$PWD PATH=$PWD/bin:$PATH
printf 'system "hack"\n' > .gnuplot

try() {
  timeout 60 regal train set --steps 1 --graphs-per-step 1 --samples 2 \
    --valid-graphs 0 --episode-evaluations 20 --threads 1 -q "$@" > /dev/null 2> errors
  echo "exit $?"
  grep regal: errors
}
try -o p1 --log '< hack' --plot '| hack'
try -o "p2'; system 'hack" --plot $'a\nsystem "hack"\n.svg'
try -o p3 --log $'l\'.system("hack").\'' --plot=-d.svg
try -o '<hack' --plot '"`hack`".svg'
head -c 5 ./-d.svg; echo
grep -c '<svg' -- '| hack' $'a\nsystem "hack"\n.svg' -d.svg '"`hack`".svg' | sed 's/.*:/:/'
mkdir fig
regal dataset describe set --figures "fig/'.system('hack').'" > /dev/null
ls "fig/'.system('hack').'"
test -e ran && echo 'a command has run'
ls -A tmp
