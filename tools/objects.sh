#!/usr/bin/env bash
# Writes the list of objects into src/Makevars and src/Makevars.win: every .cpp of
# src/ and src/core/. R's make must be portable, so the list cannot make itself.
#   tools/objects.sh [SRC]          writes;   tools/objects.sh --check [SRC]   exits with 1 if a list is old
set -euo pipefail
export LC_ALL=C
check=
[ "${1:-}" = "--check" ] && { check=1; shift; }
cd "${1:-$(dirname "$0")/../src}"
status=0
for file in Makevars Makevars.win; do
  new=$(mktemp)
  {
    sed '/^OBJECTS/,$d' "$file"
    echo "OBJECTS = \\"
    find . -name '*.cpp' | sed 's|^\./||; s|\.cpp$|.o|; s|^|  |' | sort | sed '$!s|$| \\|'
  } >"$new"
  if ! cmp -s "$new" "$file"; then
    if [ -n "$check" ]; then
      echo "src/$file does not list every .cpp: run tools/objects.sh"
      status=1
    else
      cat "$new" >"$file"
    fi
  fi
  rm -f "$new"
done
exit $status
