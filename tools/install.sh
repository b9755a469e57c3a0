#!/usr/bin/env bash
# Compiles the package in a fresh copy of its sources and installs it.
#   tools/install.sh COPY LIBRARY [OPTIONS OF R CMD INSTALL]
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$1 library=$2
shift 2
rm -rf "$copy"
mkdir -p "$copy" "$library"
cp -R DESCRIPTION NAMESPACE LICENSE R src inst man "$copy"
find "$copy/src" \( -name "*.o" -o -name "*.so" -o -name "*.dll" \) -delete
R CMD INSTALL --no-multiarch --no-docs --library="$library" "$@" "$copy"
rm -rf "$copy"
