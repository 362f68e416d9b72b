#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs a build, moves the installation, and builds and runs a project that uses it: find_package(hvdize), hvdize::runtime,
# hvdize_target(). Prints "ok WHAT" or "FAIL WHAT" for each check.      usage: run.sh BUILD_DIR
build=${1:?usage: run.sh BUILD_DIR}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
export HVDIZE_CACHE=$work/header-cache
failures=0

# check WHAT COMMAND...: the command's status decides; its output is shown when it fails
check() {
  local what=$1
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok   $what"
  else
    echo "FAIL $what"
    sed 's/^/    /' "$log" | tail -40
    failures=$((failures + 1))
    return 1
  fi
}

rebuild() { ninja -C "$work/client-build" >"$work/ninja" 2>&1 || { cat "$work/ninja"; return 1; }; }
nothing_done() { rebuild && { grep -q 'no work to do' "$work/ninja" || { cat "$work/ninja"; return 1; }; }; }
rewritten_again() { rebuild && { grep -q 'Distributing trainer.cpp shown/progress.cpp' "$work/ninja" || { cat "$work/ninja"; return 1; }; }; }
mentions_no_build_tree() { ! grep -rlE "$(dirname "$build")/($(basename "$build")|runtime|cmake)/" "$work/moved/lib/cmake"; }
fails_and_leaves_nothing() { ! rebuild && [ ! -e "$output" ]; }

check "cmake --install" cmake --install "$build" --prefix "$work/installed" || exit 1
mv "$work/installed" "$work/moved"
check "the package names no path of the build" mentions_no_build_tree
for file in bin/hvdize bin/hvd-verify; do
  check "$file is installed and starts" "$work/moved/$file" --help
done

cp -r "$here/client" "$work/client"
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
check "find_package(hvdize) after the move" \
  cmake -S "$work/client" -B "$work/client-build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/moved" '-DPRECOMPILE=<cstdio>' "${launcher[@]}" || exit 1
precompiled_is_refused() {
  ! cmake -S "$work/client" -B "$work/precompiled" -G Ninja -DCMAKE_PREFIX_PATH="$work/moved" -DPRECOMPILE=local.h && tr -s '\n ' ' ' <"$log" | grep -q "it precompiles '.*local.h', which hvdize may change"
}
check "a header of the target's own may not be precompiled" precompiled_is_refused
check "hvdize_target builds" rebuild || exit 1

output=$work/client-build/hvdize/trainer/trainer.cpp
check "the rewritten source opens a session" grep -q 'hvd::Session' "$output"
check "what another source prints is the root's" grep -q 'hvd::is_root' "$work/client-build/hvdize/trainer/shown/progress.cpp"
check "the policy of BATCH is in it" grep -q 'hvd::Batch::global' "$output"
check "nothing touched: nothing done" nothing_done
touch "$work/client/trainer.cpp"
check "source touched: rewritten again" rewritten_again
touch "$work/client/include/model.h"
check "header touched: rewritten again" rewritten_again
touch "$work/client/local.h"
check "header beside the source touched: rewritten again" rewritten_again
check "and then nothing is done" nothing_done

# docs/packages.md: which library a program asks for.
version=$("$work/moved/bin/hvdize" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
interface=${version%%.*}
[ "$interface" = 0 ] && interface=${version%.*}
asks_for() { readelf -d "$1" | grep -F "$2" | grep -qF "[libhvd_runtime.so.$interface]"; }
if command -v readelf >/dev/null; then
  check "the library is called by its interface, $interface" asks_for "$(find "$work/moved" -name "libhvd_runtime.so.$version")" SONAME
  check "and programs ask for that" asks_for "$work/client-build/trainer" NEEDED
else
  echo "skip names of libraries: readelf is not installed"
fi

ranks=1
command -v mpirun >/dev/null && ranks=1,2
check "sequential and distributed agree on $ranks ranks" "$work/moved/bin/hvd-verify" -n "$ranks" --timeout 60 \
  --sequential "$work/client-build/trainer_seq" --distributed "$work/client-build/trainer"

# The wrapper of the installed package, with what pkg-config says.
wrapped() {
  (cd "$work/client" && PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name hvdize.pc)") && export PKG_CONFIG_PATH &&
    "$work/moved/bin/hvdize-c++" -std=c++20 -DHIDDEN=16 -Iinclude --hvdize-batch=global --hvdize-assume=independent $(pkg-config --cflags hvdize) \
      trainer.cpp shown/progress.cpp -o "$work/wrapped" $(pkg-config --libs hvdize))
}
if command -v pkg-config >/dev/null; then
  check "hvdize-c++ and pkg-config after the move" wrapped
  check "what it built agrees on 1 and 2 ranks" "$work/moved/bin/hvd-verify" -n 1,2 --timeout 60 --sequential "$work/client-build/trainer_seq" --distributed "$work/wrapped"
else
  echo "skip hvdize-c++ with pkg-config: pkg-config is not installed"
fi

for page in hvdize hvdize-c++ hvd-run hvd-verify hvd-trace hvd-tune; do
  check "the manual page of $page says what it is" grep -q '^.SH NAME' "$work/moved/share/man/man1/$page.1"
done
completes() { [ "$(PATH=$work/moved/bin:$PATH bash "$here/completions.sh" "$work/moved/share/bash-completion/completions/hvdize" "$1")" = "$2" ]; }
check "bash completes an option" completes "hvdize --lr-s" "--lr-scaling="
check "and its words" completes "hvdize --lr-scaling=l" "linear"
check "and files" completes "hvdize $work/client/trai" "$work/client/trainer.cpp"

if command -v zsh >/dev/null; then
  offers_zsh() { [ "$(PATH=$work/moved/bin:$PATH zsh -f "$here/completions.zsh" "$work/moved/share/zsh/site-functions/_hvdize" "$@" | grep -cxF -- "$expected")" = 1 ]; }
  expected=--lr-scaling= check "zsh completes an option" offers_zsh hvdize --lr-s
  expected=linear check "zsh completes its words" offers_zsh hvdize --lr-scaling=l
  expected=FILES check "zsh completes files" offers_zsh hvdize-c++ tr
else
  echo "skip completion for zsh: zsh is not installed"
fi
if command -v fish >/dev/null; then
  offers_fish() { PATH=$work/moved/bin:$PATH fish --no-config -c "source '$work/moved/share/fish/vendor_completions.d/hvd-run.fish'; complete -C '$1'" | grep -qxF -- "$2"; }
  check "fish completes an option" offers_fish "hvdize --lr-s" --lr-scaling=
  check "fish completes its words" offers_fish "hvdize --lr-scaling=l" --lr-scaling=linear
  check "fish completes files" offers_fish "hvdize $work/client/trai" "$work/client/trainer.cpp"
else
  echo "skip completion for fish: fish is not installed"
fi

# Debian packages, laid over each other in an empty root.
debian() {
  (cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/deb" && for package in "$work"/deb/*.deb; do dpkg-deb -x "$package" "$work/root" || exit 1; done)
}
runs_from_root() {
  (cd "$work/client" && "$work/root/usr/bin/hvdize-c++" -std=c++20 -DHIDDEN=16 -Iinclude -I"$work/root/usr/include" trainer.cpp shown/progress.cpp -o "$work/from-root" \
    -L"$(dirname "$(find "$work/root" -name libhvd_runtime.so)")" -lhvd_runtime) && (cd "$work" && "$work/root/usr/bin/hvd-run" -n 2 "$work/from-root")
}
if command -v dpkg-shlibdeps >/dev/null; then
  check "cpack makes Debian packages" debian
  check "they are the tool, the runtime and its headers" [ "$(cd "$work/deb" && ls *.deb | sed 's/_.*//' | grep -v -e -torch -e -cuda | LC_ALL=C sort | tr '\n' ' ')" = "hvdize libhvd libhvd-dev " ]
  check "the runtime needs no LibTorch" grep -vq torch <(dpkg-deb -f "$work"/deb/libhvd_*.deb Depends)
  check "the tool depends on what it loads" grep -q 'libclang-cpp' <(dpkg-deb -f "$work"/deb/hvdize_*.deb Depends)
  check "a program is built and runs from them" runs_from_root
else
  echo "skip Debian packages: dpkg-dev is not installed"
fi

echo 'int broken = nonsense;' >>"$work/client/local.h"
if [ -e "$work/moved/lib/cmake/hvdize/hvdizeTorchTargets.cmake" ]; then
  cp -r "$here/torch_client" "$work/torch"
  torch_build() { cmake -S "$work/torch" -B "$work/torch-build" -G Ninja -DCMAKE_PREFIX_PATH="$work/moved" "${launcher[@]}" && ninja -j1 -C "$work/torch-build"; }
  check "hvdize_target builds a LibTorch program" torch_build
  check "its header is rewritten too" grep -q 'hvd::is_root' "$work/torch-build/hvdize/trainer/model.h"
  echo '// changed' >>"$work/torch/model.h"
  check "a header that changed is rewritten again" ninja -j1 -C "$work/torch-build" hvdize/trainer/trainer.cpp
  check "and its new text is there" grep -q '// changed' "$work/torch-build/hvdize/trainer/model.h"
  check "the LibTorch program's sequential and distributed form agree on $ranks ranks" "$work/moved/bin/hvd-verify" -n "$ranks" --timeout 120 \
    --sequential "$work/torch-build/trainer_seq" --distributed "$work/torch-build/trainer"
else
  echo "skip hvdize_target with LibTorch: this build has no LibTorch binding"
fi

check "a source that does not compile stops the build and leaves no output" fails_and_leaves_nothing
exit $((failures > 0))
