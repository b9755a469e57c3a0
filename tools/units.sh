#!/usr/bin/env bash
# Writes what the build compiles: a unit in src/units/ includes the .cpp files of a folder of src/core (or of a part of a
# large folder), or some of those beside it, because each translation unit takes seconds before its first line is compiled (Eigen's headers). Then
# lists the objects in src/Makevars and src/Makevars.win. R's make must be portable, so it cannot make the list itself.
#   tools/units.sh [SRC]           writes
#   tools/units.sh --each [SRC]    writes lists in which each .cpp of the core is compiled by itself, without units
#   tools/units.sh --check [SRC]   exits with 1 if a unit or a list is old
set -euo pipefail
export LC_ALL=C
mode=${1:-}
case "$mode" in
--check | --each) shift ;;
*) mode= ;;
esac
cd "${1:-$(dirname "$0")/../src}"

# The unit of a file: its folder, or a part of it. Every file is in one unit, new ones too.
unit_of() {
  case "$1" in
  linalg/decompositions.cpp | linalg/products.cpp) echo linalg_decompositions ;;
  kernels/kernel_*) echo kernels_parts ;;
  posteriors/arm_* | posteriors/root_* | posteriors/weight_* | posteriors/played_* | posteriors/table_*) echo posteriors_arms ;;
  posteriors/low_rank_* | posteriors/lazy_* | posteriors/best_*) echo posteriors_low_rank ;;
  scores/outcomes.cpp | scores/goal.cpp | scores/pareto_front.cpp) echo scores_outcomes ;;
  spaces/mixed_* | spaces/shares.cpp | spaces/polytope.cpp) echo spaces_mixed ;;
  *) echo "${1%%/*}" ;;
  esac
}

# The unit of a file beside the core, or its own. (Those that use sockets or files include the system's headers.)
unit_beside() {
  case "$1" in
  export_log.cpp | export_queries.cpp | export_trust.cpp | export_turns.cpp) echo r_log ;;
  export_bandit.cpp | export_choices.cpp | export_posterior.cpp | export_runs.cpp | r_bandit.cpp) echo r_bandit ;;
  export_rows.cpp | export_text.cpp | r_lists.cpp | r_reply.cpp | r_serialised.cpp) echo r_text ;;
  export_fitting.cpp | export_refits.cpp | export_regression.cpp | r_fit.cpp | r_lbfgsb.cpp) echo r_fitting ;;
  export_information.cpp | export_kernels.cpp | export_spaces.cpp | export_transforms.cpp | r_kernel.cpp | \
    r_settings.cpp | r_values.cpp) echo r_model ;;
  esac
}

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
mkdir "$new/units"
files=$(find core -name '*.cpp' | sed 's|^core/||' | sort)
for file in $files; do
  unit=$new/units/$(unit_of "$file").cpp
  [ -f "$unit" ] || echo "// A unit of the build, written by tools/units.sh." >"$unit"
  echo "#include \"$file\"" >>"$unit"
done

beside=
for file in *.cpp; do
  unit=$(unit_beside "$file")
  if [ "$mode" = "--each" ] || [ -z "$unit" ]; then beside+=$file$'\n'; fi
  [ -n "$unit" ] || continue
  unit=$new/units/$unit.cpp
  [ -f "$unit" ] || echo "// A unit of the build, written by tools/units.sh." >"$unit"
  echo "#include \"../$file\"" >>"$unit"
done

if [ "$mode" = "--each" ]; then
  objects=$(sed 's|^|core/|' <<<"$files")
else
  objects=$(cd "$new" && ls units/*.cpp)
fi
objects=$( (echo "$objects"; echo -n "$beside") | sed 's|\.cpp$|.o|; s|^|  |; $!s|$| \\|')
for file in Makevars Makevars.win; do
  {
    sed '/^OBJECTS/,$d' "$file"
    echo "OBJECTS = \\"
    echo "$objects"
  } >"$new/$file"
done

if [ "$mode" = "--check" ]; then
  status=0
  for file in Makevars Makevars.win units; do
    diff -r "$new/$file" "$file" >/dev/null 2>&1 && continue
    echo "src/$file is not what the .cpp files of src/ demand: run tools/units.sh"
    status=1
  done
  exit $status
fi
mkdir -p units
for file in Makevars Makevars.win units/*.cpp; do
  [ -f "$new/$file" ] || rm -f "$file"
done
for file in $(cd "$new" && ls Makevars Makevars.win units/*.cpp); do
  cmp -s "$new/$file" "$file" || cat "$new/$file" >"$file"
done
