# SPDX-License-Identifier: Apache-2.0
# Completion of hvdize's programs for fish. The options and their words are read from --help, so that they are those of the program.

function __hvdize_words
    set -l program (commandline -opc)[1]
    set -l current (commandline -ct)
    set -l ask --help
    string match -q '*hvdize-c++' -- $program; and set ask --hvdize-help
    set -l text ($program $ask 2>/dev/null)
    if set -l option (string match -r '^(--[a-z-]+)=' -- $current)[2]
        for choice in (string match -rg -- "$option=([a-z0-9-]+(?:\|[a-z0-9-]+)+)" $text | string split '|')
            echo $option=$choice
        end
    else
        string match -rag -- '(?:^|[ ,|[])(--?[a-zA-Z][a-zA-Z+-]*=?)' $text | sort -u
    end
end

for program in hvdize hvdize-c++ hvd-run hvd-verify hvd-trace hvd-tune
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a '(__hvdize_words)'
end
