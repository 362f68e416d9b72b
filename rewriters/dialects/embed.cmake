# SPDX-License-Identifier: Apache-2.0
# Writes ${OUT}, a C++ file that holds the YAML files ${TABLES} as strings.
set(rows "")
foreach(table IN LISTS TABLES)
  get_filename_component(name ${table} NAME_WE)
  file(READ ${table} text)
  string(APPEND rows "    {\"${name}\", R\"dialect_table(${text})dialect_table\"},\n")
endforeach()
file(WRITE ${OUT} "// Written by embed.cmake from the dialect tables.
#include \"rewriters/dialects/built_in.h\"

namespace hvdize {

const std::vector<BuiltInDialect>& builtInDialects() {
  static const std::vector<BuiltInDialect> tables = {
${rows}  };
  return tables;
}

}  // namespace hvdize
")
