# SPDX-License-Identifier: Apache-2.0
# Completion of hvdize's programs for bash. The options and their words are read from --help, so that they are those of the program.

_hvdize_help() {
  case $1 in
    *hvdize-c++) "$1" --hvdize-help ;;
    *) "$1" --help ;;
  esac 2>/dev/null
}

_hvdize_complete() {
  local current=${COMP_WORDS[COMP_CWORD]} before="" line=${COMP_LINE:0:COMP_POINT} help
  COMPREPLY=()
  help=$(_hvdize_help "$1") || return
  # bash splits "--batch=g" into three words
  if [[ $line =~ (--[a-z-]+)=([^[:space:]]*)$ ]]; then
    before=${BASH_REMATCH[1]} current=${BASH_REMATCH[2]}
    local words
    words=$(sed -nE "s/.*$before=([a-z0-9-]+(\|[a-z0-9-]+)+).*/\1/p" <<<"$help" | tr '|' ' ')
    if [ -n "$words" ]; then
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '(^|[ ,|[])--?[a-zA-Z][a-zA-Z+-]*=?' <<<"$help" | sed -E 's/^[ ,|[]//' | sort -u)" -- "$current")
    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  fi
}

complete -F _hvdize_complete hvdize hvd-run hvd-verify hvd-trace hvd-tune
# hvdize-c++ is a compiler: files first
complete -o default -F _hvdize_complete hvdize-c++
