#!/usr/bin/env bash
# Builds the tarball and runs R CMD check --as-cran on it, in build/.
# Further arguments go to R CMD check.
# Fails on an error, a warning or a note. What the machine lacks (LaTeX, pandoc,
# a network for CRAN's own questions) is left out and said.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/check
build=() check=(--as-cran "$@")

have() { command -v "$1" >/dev/null 2>&1; }
leave_out() { echo "check: no $1 here: $2 left out"; }

if ! have pdflatex; then
  leave_out pdflatex "the PDF manual is"
  check+=(--no-manual)
fi
installed() { Rscript -e "quit(status = !nzchar(system.file(package = '$1')))"; }

if ! have pandoc || ! installed knitr || ! installed rmarkdown; then
  leave_out "pandoc with knitr and rmarkdown" "the vignettes are"
  build+=(--no-build-vignettes)
  check+=(--ignore-vignettes)
fi

# The clock and CRAN's pages cannot be asked offline: neither is about the package.
export _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_CRAN_INCOMING_=false
# A suggested package that could not be installed is not an error, nor one that this package enhances.
export _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=true

# Byte code and the library have 7 MB; their size is no aim (CONTRIBUTING.md), unless it grows.
export _R_CHECK_PKG_SIZES_THRESHOLD_=10

name=$(sed -n 's/^Package: *//p' DESCRIPTION)
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
cd build/check
rm -rf "$name".Rcheck "$name"_*.tar.gz
R CMD build ${build[@]+"${build[@]}"} ../..
R CMD check "${check[@]}" "${name}_${version}.tar.gz" || true

# Of the processor, by this shell's children. A compiler cache spares most of it.
times >times.txt
spent=$(sed -n '2s/[ms]/ /gp' times.txt | awk '{ printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4 }')
if have ccache && [ -z "${CCACHE_DISABLE:-}" ]; then cache="with a compiler cache"; else cache="without a compiler cache; aim: 600"; fi
echo "check: R CMD build and check took $spent s of processor ($cache)"

log="$name.Rcheck/00check.log"
status=$(tail -n 5 "$log" | grep '^Status:' || echo "Status: R CMD check did not finish")
if [ "$status" = "Status: OK" ]; then
  echo "check: OK ($PWD/${name}_${version}.tar.gz)"
else
  cat "$name".Rcheck/tests/*.fail 2>/dev/null | tail -n 60 || true
  grep -E 'error' "$name.Rcheck/00install.out" 2>/dev/null | head -n 20 || true
  grep -E -A12 '\.\.\. .*(ERROR|WARNING|NOTE)$|(ERROR|WARNING|NOTE)$' "$log" || true
  echo "check: $status (see $PWD/$log)"
  exit 1
fi
