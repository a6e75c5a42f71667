# SPDX-License-Identifier: Apache-2.0
# Completion for bash: commands, each command's own options, then files.
# All of it is asked of the program, so it cannot be out of date.
_regal() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("${COMP_WORDS[0]}" --help 2>/dev/null |
      sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
  elif [ "$command" = dataset ] && [ "$COMP_CWORD" -eq 2 ]; then
    words=$("${COMP_WORDS[0]}" dataset --help 2>/dev/null |
      sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
  elif [ "${word:0:1}" = - ]; then
    [ "$command" = dataset ] && command="dataset ${COMP_WORDS[2]}"
    # shellcheck disable=SC2086
    words=$("${COMP_WORDS[0]}" $command --help 2>/dev/null |
      grep -oE -- '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
  else
    return # files
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _regal regal
