#!/usr/bin/env bash
# Compiles the package in a fresh copy of its sources (see tools/copy.sh) and installs it.
#   tools/install.sh [--plain] COPY LIBRARY [OPTIONS OF R CMD INSTALL]
set -euo pipefail
cd "$(dirname "$0")/.."
plain=()
[ "$1" = "--plain" ] && { plain=(--plain); shift; }
copy=$1 library=$2
shift 2
mkdir -p "$library"
tools/copy.sh ${plain[@]+"${plain[@]}"} "$copy"
R CMD INSTALL --no-multiarch --no-docs --library="$library" "$@" "$copy"
rm -rf "$copy"
