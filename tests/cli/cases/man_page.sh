# The manual page has every command, and every option with the table's words.
plain=$(sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\f[BIR]//g' docs/regal.1)
for command in $(regal --help |
  sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  grep -q "^\.B.* $command" <<< "$plain" || echo "no command $command"
done
regal options | grep '^| `' | while read -r row; do
  option=$(grep -o -- '--[a-z-]*' <<< "$row" | head -1)
  help=$(awk -F ' \\| ' '{ print $5 }' <<< "$row")
  grep -q -- "^\.B.*$option\b" <<< "$plain" || echo "no option $option"
  grep -qiF -- "$help" <<< "$plain" || echo "$option: not '$help'"
done
echo checked
