#!/usr/bin/env bash
# Prints the licences of the program and of all modules in its build.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "Cloudburst"
echo
cat LICENSE
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/cloudburst | LC_ALL=C sort -u | while read -r path version dir; do
	found=
	for file in "$dir"/LICEN[CS]E* "$dir"/COPYING* "$dir"/UNLICENSE* "$dir"/NOTICE*; do
		if [[ -f $file ]]; then
			printf '\n\n==== %s %s: %s\n\n' "$path" "$version" "${file##*/}"
			cat "$file"
			found=yes
		fi
	done
	if [[ -z $found ]]; then
		echo "licences: $path has no file that says its licence" >&2
		exit 1
	fi
done
printf '\n\n==== The Go standard library: LICENSE\n\n'
cat "$(go env GOROOT)/LICENSE"
