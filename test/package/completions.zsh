#!/usr/bin/env zsh
# SPDX-License-Identifier: Apache-2.0
# Prints what a completion function adds for a line of words, one a line, FILES for file names.      usage: completions.zsh FILE WORD...
compadd() {
  while [[ $1 != -- ]]; do shift; done
  shift
  (( $# )) && print -l -- "$@"
}
compset() { : }
_files() { print FILES }
function complete_words {
  local file=$1 CURRENT
  shift
  local -a words=("$@")
  CURRENT=$#words
  eval "function __completer { $(<$file)
}"
  __completer
}
complete_words "$@"
