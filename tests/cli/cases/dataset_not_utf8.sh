# Names of files need not be UTF-8; JSON must be.
mkdir "$(printf 'set\377')"
cp graphs/diamond.pbtxt "$(printf 'set\377/a\377"b.pbtxt')"
regal dataset list "$(printf 'set\377')" --json
regal dataset describe "$(printf 'set\377')" --json | head -n 2
