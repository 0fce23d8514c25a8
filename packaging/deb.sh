#!/usr/bin/env bash
# Builds the Debian package: deb.sh PROGRAM ARCH DEB. PROGRAM is a build for ARCH (amd64,
# arm64). NATIVE, a build for this machine, writes the manual page; the default is PROGRAM.
set -euo pipefail
program=$(realpath "$1") arch=$2 out=$(realpath -m "$3") native=$(realpath "${NATIVE:-$1}")
cd "$(dirname "$0")/.."
stage=$(mktemp -d "${TMPDIR:-/tmp}/cloudburst-deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT
export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}" GOFLAGS=-buildvcs=false CGO_ENABLED=0
cp "$program" "$stage/cloudburst"
"$native" man | gzip -9n >"$stage/cloudburst.1.gz"
for shell in bash zsh fish; do "$native" completion "$shell" >"$stage/$shell"; done
gzip -9nc CHANGELOG.md >"$stage/changes.gz"
packaging/licences.sh | gzip -9n >"$stage/licences.gz"
go run ./packaging/sbom "$program" >"$stage/cloudburst.cdx.json"
(cd packaging/tools && go build -o "$stage/mkdeb" ./mkdeb)
DEB_STAGE=$stage DEB_ARCH=$arch DEB_VERSION=$("$native" version | sed -n 's/^cloudburst \([0-9][^ ]*\).*/\1/p') \
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)} \
	"$stage/mkdeb" packaging/deb/nfpm.yaml "$out"
