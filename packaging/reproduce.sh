#!/usr/bin/env bash
# Builds the program in two folders and compares the results.
#
#   reproduce.sh         short: modules can come from the build cache; our own packages
#                        cannot, because each file of the second copy has an additional
#                        empty line at its end
#   reproduce.sh --full  two builds from scratch, each with its own cache
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d "${TMPDIR:-/tmp}/cloudburst-reproduce.XXXXXX")
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT

# copy FOLDER: copies the files that git tracks, as they are in this folder
copy() {
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do if [[ -f $f ]]; then printf '%s\0' "$f"; fi; done |
		tar --null -T - -cf - | tar -xf - -C "$1"
}
copy "$dir/one"
copy "$dir/another/deeper"
if [[ ${1:-} != --full ]]; then
	find "$dir/another/deeper" -name '*.go' -exec sh -c 'for f; do echo >>"$f"; done' sh {} +
fi
sum() { # FOLDER NAME
	if [[ ${full:-} ]]; then export GOCACHE="$dir/cache-$2"; fi
	(cd "$1" && packaging/build.sh "$dir/$2") && sha256sum "$dir/$2" | cut -d ' ' -f 1
}
full=${1:+yes}
first=$(sum "$dir/one" first)
second=$(sum "$dir/another/deeper" second)
if [[ -z $first || $first != "$second" ]]; then
	echo "reproduce: two builds of the same source differ: $first and $second" >&2
	exit 1
fi
echo "reproduce: twice the same, $first"
