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
me=with-postgres
. "$(dirname "$0")/postgres-server.sh"

init_server data
start_server data

export CLOUDBURST_TEST_POSTGRES="postgres://cloudburst:$password@127.0.0.1:$port/postgres?sslmode=disable"
status=0
"$@" || status=$?
exit "$status"
