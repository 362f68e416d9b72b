# SPDX-License-Identifier: Apache-2.0
#
# Writes OUT, the manual page NAME(1) with the one-line summary SUMMARY, from what PROGRAM prints for OPTION. So the page says what the
# program says.
execute_process(COMMAND ${PROGRAM} ${OPTION} OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${OPTION}: status ${status}\n${text}")
endif()
string(REPLACE "\\" "\\e" text "${text}")
string(REPLACE "-" "\\-" text "${text}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" text "\n${text}")
string(REPLACE "-" "\\-" name "${NAME}")
string(REPLACE "-" "\\-" summary "${SUMMARY}")
file(WRITE ${OUT} ".TH \"${NAME}\" 1 \"\" \"hvdize ${VERSION}\"
.SH NAME
${name} \\- ${summary}
.SH DESCRIPTION
.nf${text}
.fi
.SH SEE ALSO
hvdize(1), hvdize\\-c++(1), hvd\\-run(1), hvd\\-verify(1), hvd\\-trace(1), hvd\\-tune(1)
.PP
The documentation, one page for each diagnostic included: hvdize \\-\\-explain HVD1020 prints one.
")
