# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share: where things are, and how to build. Sourced, not run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${HVDIZE_BUILD_DIR:-$root/build}

# A source that includes Clang's headers takes up to 1.5 GB to compile.
default_jobs() {
  local cores memory
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)  # which says what they say, not how many cores there are
  memory=$(awk '/MemAvailable/ {print int($2 / 1600000)}' /proc/meminfo)
  [ "$memory" -lt 1 ] && memory=1
  echo $((cores < memory ? cores : memory))
}
jobs=${HVDIZE_JOBS:-$(default_jobs)}

# configure_and_build [cmake options...]: quiet when it works, the whole log when it does not.
configure_and_build() {
  local launcher=() log=$build/configure.log
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  mkdir -p "$build"
  echo "== configuring in $build"
  if ! cmake -S "$root" -B "$build" -G Ninja -DCMAKE_UNITY_BUILD=ON "${launcher[@]}" "$@" >"$log" 2>&1; then
    cat "$log"
    echo "configuring failed" >&2
    return 1
  fi
  sed -n '/^-- hvdize /,/programs:/p' "$log"
  echo "== building with $jobs jobs"
  ninja -C "$build" -j"$jobs" "${ninja_targets[@]}" || { echo "the build failed" >&2; return 1; }
}
ninja_targets=()

# A clone in another folder, and precompiled headers, find what an earlier build left in the compiler cache.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1} CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

# Ranks share this machine's cores: one thread each. Open MPI wants to be told that running as root is meant.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
