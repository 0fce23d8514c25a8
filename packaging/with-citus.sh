#!/usr/bin/env bash
# Runs a command with its own Citus cluster: with-citus.sh COMMAND…
#
# The cluster is a coordinator and two workers (CITUS_WORKERS changes the number), in a
# temporary folder and on free ports of 127.0.0.1. It stops when the command ends for any
# reason. CLOUDBURST_TEST_CITUS passes the URL of the coordinator to the command. If the
# variable is already set, the command uses that cluster. The extension Citus must be
# installed for the PostgreSQL of this machine; the script does not install it.
set -euo pipefail

if [[ -n ${CLOUDBURST_TEST_CITUS:-} ]]; then
	exec "$@"
fi
me=with-citus
. "$(dirname "$0")/postgres-server.sh"

share=$("$bin/pg_config" --sharedir 2>/dev/null || echo "/usr/share/postgresql/$(basename "${bin%/bin}")")
if [[ ! -e $share/extension/citus.control ]]; then
	echo "$me: the extension Citus is not installed for $("$bin/postgres" --version)" >&2
	exit 1
fi

# The nodes of the cluster sign in to each other with the password of this file. A Citus with
# libcurl reports to its makers unless statistics are off.
secret_file pgpass <<<"127.0.0.1:*:*:cloudburst:$password"
export PGPASSFILE=$dir/pgpass
citus=(-c shared_preload_libraries=citus -c max_connections=1000 -c max_prepared_transactions=400 -c citus.node_conninfo=sslmode=prefer
	-c citus.enable_statistics_collection=off -c citus.local_hostname=127.0.0.1 -c citus.shard_count=${CITUS_SHARDS:-4})
run_sql() { # PORT SQL
	"${as_user[@]}" "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U cloudburst -d postgres -c "$2" >/dev/null
}

nodes=$((${CITUS_WORKERS:-2} + 1))
ports=()
for n in $(seq "$nodes"); do
	init_server "node$n"
	start_server "node$n" "${citus[@]}"
	run_sql "$port" 'CREATE EXTENSION citus'
	ports+=("$port")
done
run_sql "${ports[0]}" "SELECT citus_set_coordinator_host('127.0.0.1', ${ports[0]})"
for port in "${ports[@]:1}"; do
	run_sql "${ports[0]}" "SELECT citus_add_node('127.0.0.1', $port)"
done
unset PGPASSFILE

export CLOUDBURST_TEST_CITUS="postgres://cloudburst:$password@127.0.0.1:${ports[0]}/postgres?sslmode=disable"
status=0
"$@" || status=$?
exit "$status"
