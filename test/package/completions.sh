#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints what bash offers at the end of a line.      usage: completions.sh FILE LINE
source "$1"
COMP_LINE=$2
COMP_POINT=${#2}
read -ra COMP_WORDS <<<"${2//=/ = }"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_hvdize_complete "${COMP_WORDS[0]}"
printf '%s\n' "${COMPREPLY[@]}"
