#!/usr/bin/env bash
# Builds the package with the address and undefined-behaviour sanitizers, with
# Eigen's and the standard library's own assertions on, and runs the tests.
#   tools/sanitize.sh [gcc|clang] [TEST-FILTER]
# Everything goes to build/sanitize-COMPILER. R itself is not instrumented, so
# leaks are not looked for. Exits with 1 on a report or a failing test.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=${1:-gcc} filter=${2:-}
here=$PWD/build/sanitize-$compiler
lib=$here/lib
mkdir -p "$lib"

flags="-fsanitize=address,undefined -fno-omit-frame-pointer"
case $compiler in
  gcc)
    cxx=g++
    runtime=$(g++ -print-file-name=libasan.so)
    ;;
  clang)
    cxx=clang++
    # (Eigen takes rows of matrices that have no numbers, at null.)
    flags="$flags -fno-sanitize=function,vptr,pointer-overflow -shared-libasan"
    runtime=$(clang++ -print-file-name=libclang_rt.asan-"$(uname -m)".so)
    ;;
  *)
    echo "usage: tools/sanitize.sh [gcc|clang] [TEST-FILTER]" >&2
    exit 2
    ;;
esac
if ! command -v $cxx >/dev/null || [ ! -e "$runtime" ]; then
  echo "sanitize: $cxx or its sanitizer runtime ($runtime) is not here" >&2
  exit 2
fi
command -v ccache >/dev/null && cxx="ccache $cxx"

# -UNDEBUG comes after R's -DNDEBUG, so the assertions are on.
cat >"$here/Makevars" <<MAKEVARS
CXX17 = $cxx
CXX17STD = -std=gnu++17
CXX17FLAGS = -O1 -g -UNDEBUG -D_GLIBCXX_ASSERTIONS $flags
LDFLAGS += $flags
KEEP_SYMBOLS = yes
MAKEVARS

# Exceptions are intercepted only if libstdc++ is there from the start.
preload="$runtime $(g++ -print-file-name=libstdc++.so.6)"
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1

echo "sanitize: installing with $compiler into build/sanitize-$compiler ..."
R_MAKEVARS_USER=$here/Makevars tools/install.sh "$here/source" "$lib" --no-test-load >"$here/install.log" 2>&1 ||
  { grep -E 'error|ERROR|undefined' "$here/install.log" || tail -n 40 "$here/install.log"; exit 1; }

# Programs that the tests call go without: some hang now and then with a sanitizer in them.
mkdir -p "$here/bin"
for program in cc curl id mount chown ps python3 umount; do
  path=$(command -v $program) || continue
  printf '#!/bin/sh\nunset LD_PRELOAD\nexec %s "$@"\n' "$path" >"$here/bin/$program"
  chmod +x "$here/bin/$program"
done

echo "sanitize: running the tests ..."
status=0
PATH=$here/bin:$PATH R_LIBS=$lib${R_LIBS:+:$R_LIBS} NOT_CRAN=true GPBANDITS_SANITIZE=$compiler LD_PRELOAD=$preload \
  Rscript tools/run_tests.R $filter >"$here/tests.log" 2>&1 || status=1
tail -n 3 "$here/tests.log"
reports=$(grep -c -E 'runtime error:|ERROR: AddressSanitizer|Assertion .* failed' "$here/tests.log" || true)
if [ "$reports" -gt 0 ]; then
  grep -E -A12 'runtime error:|ERROR: AddressSanitizer|Assertion .* failed' "$here/tests.log" | head -n 80
  status=1
fi
echo "sanitize ($compiler): $reports report(s), log in $here/tests.log"
exit $status
