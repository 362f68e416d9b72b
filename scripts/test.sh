#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds, runs all tests; the last line is "N passed, N failed, N skipped".
#
#   scripts/test.sh [--werror] [SUITE...]     suites: unit gpu dist faults lit e2e e2e-all package wrapper scripts resume fuzz; default all but e2e-all
#
# HVDIZE_BUILD_DIR: the build folder (default build); HVDIZE_JOBS: parallel compilations; HVDIZE_NO_SETUP=1: install nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

options=(-DHVDIZE_BUILD_TESTS=ON)
if [ "${1:-}" = --werror ]; then
  options+=(-DHVDIZE_WERROR=ON)
  shift
fi
[ "${HVDIZE_NO_SETUP:-}" = 1 ] || "$root/scripts/setup.sh"
configure_and_build "${options[@]}"
exec python3 "$root/test/run.py" --build "$build" "$@"
