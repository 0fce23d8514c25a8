# Functions that start temporary PostgreSQL servers, for with-postgres.sh and with-citus.sh.
# The caller sets the variable me, its name in messages. The servers listen on 127.0.0.1 and
# stop when the caller ends for any reason.
# shellcheck shell=bash

initdb=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || true)
initdb=${initdb:-$(command -v initdb || true)}
if [[ -z $initdb ]]; then
	echo "$me: no PostgreSQL server is installed; run packaging/setup-tests.sh" >&2
	exit 1
fi
bin=${initdb%/*}

dir=$(mktemp -d "${TMPDIR:-/tmp}/cloudburst-postgres.XXXXXX")
servers=()
cleanup() {
	for server in "${servers[@]}"; do
		if kill -QUIT "$server" 2>/dev/null; then
			wait "$server" 2>/dev/null || true
		fi
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL refuses to run as root, so it runs as the user of its package. It also stops
# if the script is killed without running its trap.
as_user=()
if command -v setpriv >/dev/null; then
	as_user=(setpriv --pdeathsig INT)
	if [[ $(id -u) -eq 0 ]]; then
		as_user+=(--reuid postgres --regid postgres --init-groups)
		chown postgres "$dir"
	fi
elif [[ $(id -u) -eq 0 ]]; then
	echo "$me: as root this needs setpriv (Debian package util-linux); or run it as another user" >&2
	exit 1
fi

# secret_file NAME writes standard input to a file that only the server's user can read.
secret_file() {
	(umask 077 && cat >"$dir/$1")
	[[ $(id -u) -ne 0 ]] || chown postgres "$dir/$1"
}
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
secret_file password <<<"$password"

# A collation that differs from the byte order, as on most servers: queries that rely on
# the byte order must request it.
locale=(--locale=C.UTF-8)
if "$bin/initdb" --help | grep -q -- --icu-locale; then
	locale+=(--locale-provider=icu --icu-locale=en-US)
fi

# init_server NAME creates the data of a server. The user cloudburst owns it.
init_server() {
	if ! (cd "$dir" && "${as_user[@]}" "$bin/initdb" -D "$dir/$1" -U cloudburst -A scram-sha-256 --pwfile="$dir/password" \
		-E UTF8 "${locale[@]}" --no-sync) >"$dir/$1.log" 2>&1; then
		cat "$dir/$1.log" >&2
		exit 1
	fi
}

# start_server NAME OPTION… starts a server and sets port. Without fsync: the tests are about
# commits, not about power failures of this machine. The ports are below the ephemeral range,
# so that no socket of a test occupies them. Another server can, so it tries several.
start_server() {
	local name=$1 attempt server
	shift
	for attempt in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 10000))
		if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
		(cd "$dir" && exec "${as_user[@]}" "$bin/postgres" -D "$dir/$name" -p "$port" -c listen_addresses=127.0.0.1 \
			-c unix_socket_directories= -c max_connections=200 -c fsync=off \
			-c full_page_writes=off -c log_min_messages=warning "$@") >"$dir/$name.log" 2>&1 </dev/null &
		server=$!
		if ready "$server"; then
			servers+=("$server")
			return
		fi
		kill -QUIT "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	done
	cat "$dir/$name.log" >&2
	echo "$me: PostgreSQL did not start, in $attempt attempts" >&2
	exit 1
}
ready() {
	for _ in $(seq 3000); do # five minutes, for a busy machine
		if ! kill -0 "$1" 2>/dev/null; then return 1; fi
		if "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; then return 0; fi
		sleep 0.1
	done
	return 1
}
