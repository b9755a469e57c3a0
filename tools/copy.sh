#!/usr/bin/env bash
# A fresh copy of what R CMD INSTALL reads.
#   tools/copy.sh [--plain] COPY
# With what tests call besides (tests/testthat/cpp) compiled into it; --plain: as users get it.
set -euo pipefail
cd "$(dirname "$0")/.."
plain=
[ "$1" = "--plain" ] && { plain=1; shift; }
copy=$1
rm -rf "$copy"
mkdir -p "$copy"
cp -R DESCRIPTION NAMESPACE LICENSE NEWS.md R src inst man "$copy"
find "$copy/src" \( -name "*.o" -o -name "*.so" -o -name "*.dll" \) -delete
[ -z "$plain" ] || exit 0
cp tests/testthat/cpp/*.cpp "$copy/src"
tools/units.sh "$copy/src"
Rscript -e "Rcpp::compileAttributes('$copy')" >/dev/null
