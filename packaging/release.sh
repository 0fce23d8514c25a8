#!/usr/bin/env bash
# Builds all files of a release in a folder: release.sh FOLDER. It rejects a tree with
# uncommitted changes, and builds that are not reproducible.
set -euo pipefail
out=$(realpath -m "${1:?the folder to make it in}")
cd "$(dirname "$0")/.."
if [[ -n $(git status --porcelain) ]]; then
	echo "release: the tree has changes that are not committed:" >&2
	git status --short >&2
	exit 1
fi
if [[ -e $out ]]; then
	echo "release: $out is there already" >&2
	exit 1
fi
packaging/reproduce.sh --full
mkdir -p "$out"
for target in linux/amd64 linux/arm64 darwin/arm64; do
	name=cloudburst-${target/\//-}
	GOOS=${target%/*} GOARCH=${target#*/} packaging/build.sh "$out/$name"
	go run ./packaging/sbom "$out/$name" >"$out/$name.cdx.json"
done
native=$out/cloudburst-linux-$(go env GOHOSTARCH)
for arch in amd64 arm64; do
	NATIVE=$native packaging/deb.sh "$out/cloudburst-linux-$arch" "$arch" "$out/cloudburst_$("$native" version | sed -n 's/^cloudburst \([0-9][^ ]*\).*/\1/p')_$arch.deb"
done
packaging/licences.sh >"$out/LICENCES.txt"
(cd "$out" && sha256sum -- * >SHA256SUMS)
echo "release: $out"
cat "$out/SHA256SUMS"
