#compdef hvdize hvdize-c++ hvd-run hvd-verify hvd-trace hvd-tune
# SPDX-License-Identifier: Apache-2.0
# Completion of hvdize's programs for zsh. The options and their words are read from --help, so that they are those of the program.
local current=$words[CURRENT] text
local -a options choices
case $words[1] in
  *hvdize-c++) text=$($words[1] --hvdize-help 2>/dev/null) ;;
  *) text=$($words[1] --help 2>/dev/null) ;;
esac
if [[ $current == --*=* ]]; then
  choices=(${(s:|:)"$(sed -nE "s/.*${current%%=*}=([a-z0-9-]+(\|[a-z0-9-]+)+).*/\1/p" <<<$text)"})
  compset -P '*='
  if (( $#choices )); then
    compadd -- $choices
  else
    _files
  fi
elif [[ $current == -* ]]; then
  options=(${(uf)"$(grep -oE '(^|[ ,|[])--?[a-zA-Z][a-zA-Z+-]*=?' <<<$text | sed -E 's/^[ ,|[]//')"})
  compadd -S '' -- ${(M)options:#*=}
  compadd -- ${options:#*=}
else
  _files
fi
