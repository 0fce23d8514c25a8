#!/usr/bin/env bash
# Runs all fuzz targets one after another, each for a short time:
# fuzz.sh [TIME as for go test -fuzztime] [PATTERN of target names]
# FUZZ_WITHOUT=PACKAGE skips targets whose tests import that package: with the database,
# the build takes longer than the fuzzing. The normal tests still run their corpora.
# FUZZ_WORKERS is the number of processes per target (2).
set -euo pipefail
time=${1:-10s}
pattern=${2:-.}

targets=$(grep -rn --include='*_test.go' -E '^func Fuzz[A-Za-z0-9_]*\(' . |
	sed -E 's#^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\(.*#\1 \2#' | sort -u | grep -E -- "$pattern" || true)
if [[ -z $targets ]]; then
	echo "fuzz: no target matches '$pattern'" >&2
	exit 1
fi
# One instrumented build per package serves all its targets.
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
module=$(go list -m)
cache=$(go env GOCACHE)/fuzz
built=
left_out=
ran=0
while read -r package target; do
	if [[ $package != "$built" ]]; then
		built=$package
		left_out=
		if [[ -n ${FUZZ_WITHOUT:-} ]] && go list -deps -test "$package" | grep -xF "$FUZZ_WITHOUT" >/dev/null; then
			left_out=yes
			continue
		fi
		# Debug information is a fifth of the build time, and no debugger reads it.
		GOGC=400 go test -c -vet=off -fuzz=. -gcflags=all=-dwarf=false -ldflags=-w -o "$bin/fuzz.test" "$package"
	fi
	[[ -z $left_out ]] || continue
	echo "fuzz: $package $target for $time"
	# If the time ends while a worker is busy, the target sometimes reports an exceeded
	# deadline without an input. That is not a finding, so the target runs again.
	for try in 1 2 3; do
		failed=
		out=$(cd "$package" && "$bin/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.parallel "${FUZZ_WORKERS:-2}" \
			-test.fuzzcachedir "$cache/$module/${package#./}" 2>&1 </dev/null) || failed=yes
		[[ -n $failed && $try -lt 3 && $out == *"context deadline exceeded"* && $out != *"Failing input written"* ]] || break
		echo "fuzz: the time ended in the middle of something; again"
	done
	if [[ -n $failed ]]; then
		echo "$out"
		echo "fuzz: $package $target failed; the input stands in $package/testdata/fuzz" >&2
		exit 1
	fi
	echo "$out" | tail -n 1
	ran=$((ran + 1))
done <<<"$targets"
echo "fuzz: $ran targets, nothing found"
