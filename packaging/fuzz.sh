#!/usr/bin/env bash
# Runs every fuzz target of the tree for a short while, one after another:
# fuzz.sh [TIME, as go test -fuzztime takes it] [PATTERN of target names]
# FUZZ_WITHOUT=PACKAGE leaves out those whose tests need that package: with the database
# in it, building takes longer than all the fuzzing. Their corpora are tests like others.
# FUZZ_WORKERS is how many processes try inputs of one target at once (2).
set -euo pipefail
time=${1:-10s}
pattern=${2:-.}

targets=$(grep -rn --include='*_test.go' -E '^func Fuzz[A-Za-z0-9_]*\(' . |
	sed -E 's#^(.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9_]*)\(.*#\1 \2#' | sort -u | grep -E -- "$pattern" || true)
if [[ -z $targets ]]; then
	echo "fuzz: no target matches '$pattern'" >&2
	exit 1
fi
# Each package is built once, with what fuzzing needs, for all of its targets.
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
		# No debugger reads it, and what describes it to one is a fifth of the work.
		GOGC=400 go test -c -vet=off -fuzz=. -gcflags=all=-dwarf=false -ldflags=-w -o "$bin/fuzz.test" "$package"
	fi
	[[ -z $left_out ]] || continue
	echo "fuzz: $package $target for $time"
	# When the time ends while a worker is in the middle of something, the target says
	# now and then that the deadline was exceeded, and names no input: that is no
	# finding, and the target has its time again.
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
