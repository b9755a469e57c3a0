#!/usr/bin/env bash
# A compiler's command, and a line for it in $TIMES: what it makes, seconds of processor, megabytes at most (0 where
# there is no GNU time).
set -uo pipefail
made=""
for ((i = 1; i < $#; ++i)); do
  [ "${!i}" = "-o" ] && { next=$((i + 1)); made=${!next}; }
done
[ -n "$made" ] || exec -- "$@"
said=$(mktemp)
status=0
if command -v /usr/bin/time >/dev/null 2>&1; then
  /usr/bin/time -o "$said" -f "%U %S %M" "$@" || status=$?
else
  { TIMEFORMAT="%U %S 0"; time "$@" 2>&3; } 3>&2 2>"$said" || status=$?
fi
echo "$made $(tail -n 1 "$said")" >>"$TIMES"
rm -f "$said"
exit $status
