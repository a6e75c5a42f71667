# Completion from the tables: commands, options of each, values.
source <(regal completion bash)
try() {
  COMP_WORDS=(regal "$@") COMP_CWORD=$#
  _regal
  echo "$*: ${COMPREPLY[*]}"
}
try opt
try dataset p
try optimize --me
try optimize --method bf
try optimize --transfers = o
try evaluate --transfers ''
try evaluate --memory
try dataset pack --sp
try optimize -o x
# Every option of every command is in each script.
for shell in zsh fish; do
  regal completion $shell > script
  for option in $(regal optimize --help | grep -oE '^ +(-., )?--[a-z-]+' |
    grep -oE '[a-z-]+$' | sed 's/^-*//' | grep -v '^help$'); do
    grep -qE -- "(--| -l )$option\b" script || echo "$shell: no $option"
  done
done
regal completion csh
