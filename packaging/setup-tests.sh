#!/usr/bin/env bash
# Installs missing programs that the tests need, from Debian's packages. Prints nothing
# if nothing is missing.
set -euo pipefail

# has NAME: reports whether the program exists
has() {
	case $1 in
	postgresql) command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null ;;
	libc6-dev) [[ -e /usr/include/stdlib.h ]] ;;
	ca-certificates) [[ -e /etc/ssl/certs/ca-certificates.crt || -e /etc/ssl/cert.pem ]] ;;
	chromium-headless-shell) command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ;;
	php-cli) command -v php >/dev/null ;;
	php-xml) php -r 'exit(class_exists("SimpleXMLElement") ? 0 : 1);' 2>/dev/null ;;
	nodejs) command -v node >/dev/null ;;
	libimage-exiftool-perl) command -v exiftool >/dev/null ;;
	# A bare machine has only parts of these two.
	perl) perl -MStorable -MJSON::PP -e 1 2>/dev/null ;;
	python3) python3 -c 'import csv, json, runpy' 2>/dev/null ;;
	nginx | haproxy) command -v "$1" >/dev/null || [[ -x /usr/sbin/$1 ]] ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# Purposes: a real database; a browser for the pages; clients in other languages; the race
# detector; an independent reader of image metadata; a load balancer for several nodes.
wanted=(ca-certificates postgresql chromium-headless-shell php-cli php-xml perl ruby python3 nodejs curl gcc libc6-dev libimage-exiftool-perl nginx haproxy)

if ! command -v go >/dev/null; then
	echo "setup: there is no Go on the PATH; install Go 1.26 or newer (https://go.dev/dl/)" >&2
	exit 1
fi
# The power cut tests mount their own disk. If they cannot, they simulate only the loss of
# data that SQLite has not synced, and report this.
if [[ $(uname) == Linux && ! -e /dev/fuse && $(id -u) -eq 0 ]]; then
	modprobe fuse 2>/dev/null || true
	[[ -e /dev/fuse ]] || mknod -m 666 /dev/fuse c 10 229 2>/dev/null || true
	[[ -e /dev/fuse ]] || echo "setup: /dev/fuse is not here and cannot be made, so the tests of power cuts show less; in a container: --device /dev/fuse --cap-add SYS_ADMIN"
fi
missing=()
for name in "${wanted[@]}"; do
	has "$name" || missing+=("$name")
done
if [[ ${#missing[@]} -eq 0 ]]; then
	exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
	as_root=(sudo -n)
	sudo -n true 2>/dev/null || as_root=(false)
fi
if ! command -v apt-get >/dev/null || [[ ${as_root[*]:-} == false ]]; then
	{
		echo "setup: the tests need what this machine lacks, and it cannot be installed from here: ${missing[*]}"
		echo "setup: on Debian, as root: apt-get install ${missing[*]}"
		echo "setup: elsewhere: whatever brings the same commands, then make test again"
	} >&2
	exit 1
fi

log=$(mktemp)
no_cluster=/etc/postgresql-common/createcluster.d/cloudburst-tests.conf
policy=/usr/sbin/policy-rc.d
# shellcheck disable=SC2329 # the trap calls it
cleanup() {
	rm -f "$log"
	if [[ -n ${made_conf:-} ]]; then "${as_root[@]}" rm -f "$no_cluster"; fi
	if [[ -n ${made_policy:-} ]]; then "${as_root[@]}" rm -f "$policy"; fi
}
trap cleanup EXIT

run() { # COMMAND…: prints output only on failure
	if ! "${as_root[@]}" "$@" >"$log" 2>&1 </dev/null; then
		cat "$log" >&2
		echo "setup: this failed: $*" >&2
		exit 1
	fi
}

echo "setup: installing ${missing[*]}"
if [[ " ${missing[*]} " == *" postgresql "* ]]; then
	# The tests create their own database cluster, so the package does not need to.
	made_conf=yes
	run mkdir -p "${no_cluster%/*}"
	run sh -c "echo 'create_main_cluster = false' >$no_cluster"
fi
if [[ ! -e $policy ]]; then
	# Install only the programs; do not start services.
	made_policy=yes
	run sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
run "${apt[@]}" update
run "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
for name in "${missing[@]}"; do
	has "$name" || { echo "setup: $name was installed and is still not to be found" >&2; exit 1; }
done
