#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty folder, then builds and runs the example against that,
# as a user would: install_test.sh BUILD_FOLDER [CFLAGS]
set -euo pipefail

build=$(cd "$1" && pwd)
flags="-O1 -Wall -Wextra -Werror ${2:-}"
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
  echo "install_test: $*" >&2
  exit 1
}

DESTDIR='' cmake --install "$build" --prefix "$prefix" >"$work/log" ||
  { cat "$work/log"; fail "cmake --install failed"; }
for file in bin/regal include/regal.h include/regal_limits.h include/regal_options.h \
  include/regal_data.h \
  share/man/man1/regal.1 share/bash-completion/completions/regal \
  share/zsh/site-functions/_regal \
  share/fish/vendor_completions.d/regal.fish; do
  [ -f "$prefix/$file" ] || fail "$file was not installed"
done
library_folder=$(dirname "$(find "$prefix" -name libregal.a)")
[ -L "$library_folder/libregal.so" ] || fail "libregal.so was not installed"
export PKG_CONFIG_PATH=$library_folder/pkgconfig

# The headers alone must do (this one includes the others), in C and in C++
# (where there is a C++ compiler).
printf '#include <regal_data.h>\n' >"$work/alone.c"
# shellcheck disable=SC2046
cc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only \
  $(pkg-config --cflags regal) "$work/alone.c"
if command -v c++ >/dev/null; then
  # shellcheck disable=SC2046
  c++ -x c++ -Wall -Wextra -Werror -fsyntax-only \
    $(pkg-config --cflags regal) "$work/alone.c"
fi

grep -q '^License: Apache-2.0$' "$library_folder/pkgconfig/regal.pc" ||
  fail "regal.pc does not name the licence"
pkg-config --validate regal || fail "pkg-config does not accept regal.pc"

version=$("$prefix/bin/regal" --version | head -n 1 | cut -d" " -f1,2)
[ "$version" = "regal $(pkg-config --modversion regal)" ] ||
  fail "the program says '$version', regal.pc $(pkg-config --modversion regal)"

cp "$here"/examples/*.c "$here/examples/Makefile" "$work"
for static in no yes; do
  make -s -C "$work" clean
  make -s -C "$work" STATIC=$static CFLAGS="$flags"
  if [ $static = no ]; then
    readelf -d "$work/optimize" | grep -q 'NEEDED.*libregal\.so\.' ||
      fail "the example does not use the shared library's soname"
  fi
  LD_LIBRARY_PATH=$library_folder "$work/optimize" >"$work/output"
  # One device takes 12 us; two take 7, and no plan can be faster.
  head -n 1 "$work/output" | diff - <(
    echo "before: 12000 ns, after: 7000 ns, bound: 7000 ns"
  ) || fail "the example's result differs (static: $static)"
  [ "$(grep -c ' runs ' "$work/output")" -eq 4 ] ||
    fail "the example does not show its 4 ops"
  # The pass of a compiler: the least peak, two devices, and a limit too low.
  export LD_LIBRARY_PATH=$library_folder
  "$work/pass" | head -n 1 |
    diff - <(echo "peak 4292 KiB before, 1348 KiB after") ||
    fail "the pass's peak differs (static: $static)"
  [ "$("$work/pass" | grep -c '^0: ')" -eq 13 ] ||
    fail "the pass does not show its 13 instructions"
  "$work/pass" 2 1800KiB | sed -n 2p |
    diff - <(echo "time 335 us before, 173 us after, 3 transfers") ||
    fail "the pass's time on two devices differs (static: $static)"
  "$work/pass" 2 900KiB | grep -q '^does not fit: op "down0"' ||
    fail "the pass does not say what does not fit (static: $static)"
  if "$work/pass" 2 x 2>"$work/error"; then
    fail "the pass accepts a limit that is no number"
  fi
  grep -q '^bad input: --memory-limit: "x"' "$work/error" ||
    fail "the pass's message about its limit differs"
done
unset LD_LIBRARY_PATH

# A file, and a plan that the program accepts.
cp "$here/data/demo/"*.pb "$work/model.pb"
LD_LIBRARY_PATH=$library_folder "$work/optimize" "$work/model.pb" >/dev/null
"$prefix/bin/regal" evaluate "$work/model.pb" "$work/model.pb.plan" -q \
  >/dev/null || fail "regal evaluate rejects the example's plan"
if LD_LIBRARY_PATH=$library_folder "$work/optimize" "$work/none.pb" \
  2>"$work/error"; then
  fail "the example accepts a file that does not exist"
fi
grep -q 'none.pb' "$work/error" || fail "the message does not name the file"

# The man page has no mistakes, and the completion file loads.
page=$prefix/share/man/man1/regal.1
if command -v mandoc >/dev/null; then
  mandoc -T lint -W warning "$page"
elif command -v groff >/dev/null; then
  [ -z "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ] ||
    fail "groff warns about the man page"
fi
for shell in bash zsh fish; do
  command -v $shell >/dev/null || continue
  case $shell in
  bash) script=bash-completion/completions/regal ;;
  zsh) script=zsh/site-functions/_regal ;;
  fish) script=fish/vendor_completions.d/regal.fish ;;
  esac
  $shell -n "$prefix/share/$script" || fail "$shell does not load $script"
done

# The CMake package: a project of its own finds it and links.
mkdir "$work/consumer"
cp "$here/examples/optimize.c" "$work/consumer"
cat >"$work/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(regal 0.1 REQUIRED)
add_executable(optimize optimize.c)
target_link_libraries(optimize PRIVATE regal::regal)
END
sed -i "s/regal 0.1/regal $(pkg-config --modversion regal)/" \
  "$work/consumer/CMakeLists.txt"
cmake -S "$work/consumer" -B "$work/consumer/build" \
  -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_FLAGS="$flags" >"$work/log" 2>&1 &&
  cmake --build "$work/consumer/build" >>"$work/log" 2>&1 ||
  { cat "$work/log"; fail "a project with find_package(regal) fails"; }
"$work/consumer/build/optimize" >"$work/output"
grep -q 'bound: 7000 ns' "$work/output" ||
  fail "the project with find_package(regal) does not run"

# make install builds what it installs, and uninstall leaves nothing.
make -C "$here" -n install SETUP=no >"$work/log"
grep -q -- '--target regal_install' "$work/log" ||
  fail "'make install' builds nothing"
cmake -D MANIFEST="$build/install_manifest.txt" \
  -P "$here/cmake/uninstall.cmake" >"$work/log" 2>&1 ||
  { cat "$work/log"; fail "uninstalling failed"; }
[ -z "$(find "$prefix" ! -type d)" ] ||
  fail "left behind: $(find "$prefix" ! -type d)"
echo "installed, linked and ran, shared and static"
