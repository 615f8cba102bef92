#!/usr/bin/env bash
# generate.sh: writes the files that are derived from the declarations of the settings, with the last build of the
# daemon.
#
#     etc/trestled.toml           the sample
#     etc/trestled.schema.json    the JSON Schema
#     docs/configuration.md       the tables between the two marks; the rest is written by hand
set -euo pipefail
cd "$(dirname "$0")/.."
trestled=${TRESTLED:-.build/debug/trestled}
page=docs/configuration.md
new=$(mktemp -d)
trap 'rm -r "$new"' EXIT

for form in sample schema reference; do
    "$trestled" --print-config "$form" >"$new/$form"
done
awk -v tables="$new/reference" '
    /^<!-- end of the reference -->$/ { inside = 0 }
    !inside { print }
    /^<!-- the reference: / { inside = 1; print ""; while ((getline line < tables) > 0) print line; print "" }
' "$page" >"$new/page"
cat "$new/sample" >etc/trestled.toml
cat "$new/schema" >etc/trestled.schema.json
cat "$new/page" >"$page"
