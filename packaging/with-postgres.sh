#!/usr/bin/env bash
# Runs a command with its own PostgreSQL server: with-postgres.sh COMMAND…
#
# The server uses a temporary folder and a free port on 127.0.0.1, and stops when the
# command ends for any reason. CLOUDBURST_TEST_POSTGRES passes its URL to the command.
# If the variable is already set, the command uses that server.
set -euo pipefail

if [[ -n ${CLOUDBURST_TEST_POSTGRES:-} ]]; then
	exec "$@"
fi

initdb=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || true)
initdb=${initdb:-$(command -v initdb || true)}
if [[ -z $initdb ]]; then
	echo "with-postgres: no PostgreSQL server is installed; run packaging/setup-tests.sh" >&2
	exit 1
fi
bin=${initdb%/*}

dir=$(mktemp -d "${TMPDIR:-/tmp}/cloudburst-postgres.XXXXXX")
server=
cleanup() {
	if [[ -n $server ]] && kill -QUIT "$server" 2>/dev/null; then
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL refuses to run as root, so it runs as the user of its package. It also stops
# if this script is killed without running its trap.
as_user=()
if command -v setpriv >/dev/null; then
	as_user=(setpriv --pdeathsig INT)
	if [[ $(id -u) -eq 0 ]]; then
		as_user+=(--reuid postgres --regid postgres --init-groups)
		chown postgres "$dir"
	fi
elif [[ $(id -u) -eq 0 ]]; then
	echo "with-postgres: as root this needs setpriv (Debian package util-linux); or run it as another user" >&2
	exit 1
fi

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && echo "$password" >"$dir/password")
[[ $(id -u) -ne 0 ]] || chown postgres "$dir/password"

# A collation that differs from the byte order, as on most servers: queries that rely on
# the byte order must request it.
locale=(--locale=C.UTF-8)
if "$bin/initdb" --help | grep -q -- --icu-locale; then
	locale+=(--locale-provider=icu --icu-locale=en-US)
fi
cd "$dir"
if ! "${as_user[@]}" "$bin/initdb" -D "$dir/data" -U cloudburst -A scram-sha-256 --pwfile="$dir/password" \
	-E UTF8 "${locale[@]}" --no-sync >"$dir/log" 2>&1; then
	cat "$dir/log" >&2
	exit 1
fi

# No fsync: the tests are about commits, not about power failures of this machine.
start() { # PORT
	"${as_user[@]}" "$bin/postgres" -D "$dir/data" -p "$1" -c listen_addresses=127.0.0.1 \
		-c unix_socket_directories= -c max_connections=200 -c fsync=off \
		-c full_page_writes=off -c log_min_messages=warning >"$dir/log" 2>&1 </dev/null &
	server=$!
}
ready() {
	local port=$1
	for _ in $(seq 3000); do # five minutes, for a busy machine
		if ! kill -0 "$server" 2>/dev/null; then return 1; fi
		if "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; then return 0; fi
		sleep 0.1
	done
	return 1
}
# Ports below the ephemeral range, so that no socket of a test occupies them. Another
# server can, so the script tries several.
for attempt in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 10000))
	if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
	start "$port"
	if ready "$port"; then break; fi
	kill -QUIT "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	server=
done
if [[ -z $server ]]; then
	cat "$dir/log" >&2
	echo "with-postgres: PostgreSQL did not start, in $attempt attempts" >&2
	exit 1
fi

cd "$OLDPWD"
export CLOUDBURST_TEST_POSTGRES="postgres://cloudburst:$password@127.0.0.1:$port/postgres?sslmode=disable"
status=0
"$@" || status=$?
exit "$status"
