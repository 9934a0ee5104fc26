#!/bin/sh
# Makes the two fonts beside this file from those of the package, of the ranges in ../fonts.css.
# Needs Python with `pip install 'fonttools[woff]'`. To be run after each new version of the package.
set -eu
cd "$(dirname "$0")"
package=../../../../node_modules/@fontsource-variable/vazirmatn/files
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT

rangeOf() {
  tr -d '\n' <../fonts.css | sed -E "s/.*$1\.woff2[^}]*unicode-range: *([^;]*);.*/\1/; s/ //g"
}

make() {
  fonttools varLib.instancer "$package/$2-wght-normal.woff2" wght=400:900 --output "$whole"
  pyftsubset "$whole" --unicodes="$(rangeOf "$1")" --layout-features='*' --flavor=woff2 --output-file="$1.woff2"
}

make vazirmatn-persian vazirmatn-arabic
make vazirmatn-english vazirmatn-latin
