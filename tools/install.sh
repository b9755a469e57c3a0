#!/usr/bin/env bash
# Compiles the package in a fresh copy of its sources (see tools/copy.sh) and installs it.
#   tools/install.sh [--plain] COPY LIBRARY [OPTIONS OF R CMD INSTALL]
# R's code is prepared (byte code takes a quarter of a minute) while the compiler is at work, where R CMD INSTALL would
# do one after the other: each in a library of its own, which are put together when both are whole.
set -euo pipefail
cd "$(dirname "$0")/.."
plain=()
[ "$1" = "--plain" ] && { plain=(--plain); shift; }
copy=$1 library=$2
shift 2
package=$(sed -n 's/^Package: *//p' DESCRIPTION)
mkdir -p "$library"
tools/copy.sh ${plain[@]+"${plain[@]}"} "$copy"
halves=$(mktemp -d "$library/halves.XXXXXX")
trap 'rm -rf "$halves" "$copy" "$copy.libs"' EXIT
mkdir "$halves/code" "$halves/libs"
rm -rf "$copy.libs"
cp -R "$copy" "$copy.libs"
install=(R CMD INSTALL --no-multiarch --no-docs --no-test-load)
"${install[@]}" --libs-only --library="$halves/libs" "$@" "$copy.libs" &
libs=$!
code=0
"${install[@]}" --no-libs --library="$halves/code" "$@" "$copy" || code=$?
wait $libs
[ $code -eq 0 ]
mv "$halves/libs/$package/libs" "$halves/code/$package/libs"
case " $* " in
*" --no-test-load "*) ;;
*) Rscript -e "loadNamespace('$package', lib.loc = '$halves/code')" >/dev/null ;;
esac
rm -rf "${library:?}/$package"
mv "$halves/code/$package" "$library/$package"
