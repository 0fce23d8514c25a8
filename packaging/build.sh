#!/usr/bin/env bash
# Builds the program as for a release: build.sh FILE, for GOOS and GOARCH.
# build.sh FILE PACKAGE builds another program of this module.
# The same source and the same Go version give the same bytes in any folder. -s and -w
# remove symbols and debug information, a quarter of the size; panics and profiles do
# not need them.
set -euo pipefail
export CGO_ENABLED=0 GOTOOLCHAIN="${GOTOOLCHAIN:-auto}" GOFLAGS=-buildvcs=false GOAMD64=v1
exec go build -trimpath -ldflags='-s -w -buildid=' -o "$1" "${2:-./cmd/cloudburst}"
