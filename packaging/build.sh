#!/usr/bin/env bash
# Builds the program the way that releases are built: build.sh FILE, for GOOS and GOARCH.
# build.sh FILE PACKAGE builds another program of this source so.
# The same source and the same Go make the same bytes, in any folder. Without -s and -w
# the program is a third larger: symbols and debug information, which panics and profiles
# do not use.
set -euo pipefail
export CGO_ENABLED=0 GOTOOLCHAIN="${GOTOOLCHAIN:-auto}" GOFLAGS=-buildvcs=false GOAMD64=v1
exec go build -trimpath -ldflags='-s -w -buildid=' -o "$1" "${2:-./cmd/cloudburst}"
