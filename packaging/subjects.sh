#!/usr/bin/env bash
# Checks the subjects of the commits since this file exists: "package: imperative verb +
# object", at most 72 characters. It needs the history; without one it checks nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

first=$(git log --diff-filter=A --format=%H -- packaging/subjects.sh 2>/dev/null | tail -n 1) || first=
if [ -z "$first" ]; then
	echo "subjects: no history to check"
	exit 0
fi
git log --no-merges --format='%h %s' "$first"..HEAD | awk '
	{
		id = $1
		subject = substr($0, length(id) + 2)
		problem = ""
		verb = subject
		sub(/^[^:]*: /, "", verb)
		sub(/ .*/, "", verb)
		if (length(subject) > 72)
			problem = "has " length(subject) " characters; the limit is 72"
		else if (subject !~ /^[A-Za-z0-9_.\/*-]+(, [A-Za-z0-9_.\/*-]+)*: [^ ]+ [^ ]/)
			problem = "is not \"package: verb object\""
		else if (verb ~ /[A-Z]/ || verb ~ /(ed|ing|[^s]s)$/ && verb !~ /^(embed|feed|need|seed|shed|bring|focus|alias|canvas)$/)
			problem = "needs an imperative verb after the colon, not \"" verb "\""
		if (problem != "") {
			print "subjects: " id " \"" subject "\" " problem
			failed = 1
		}
		n++
	}
	END {
		if (!failed) print "subjects: " n + 0 " checked"
		exit failed
	}'
