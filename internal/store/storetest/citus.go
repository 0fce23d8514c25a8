package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// CitusEnv is the environment variable with the URL of the coordinator of a Citus cluster, which
// packaging/with-citus.sh sets. Its user must be a superuser with the same password on all nodes.
const CitusEnv = "CLOUDBURST_TEST_CITUS"

// Citus returns the URL of a new database of a Citus cluster, which [Main] deletes at the end. Without a cluster the test is skipped: the extension is not part of Debian.
func Citus(t testing.TB) string {
	t.Helper()
	server := os.Getenv(CitusEnv)
	if server == "" {
		t.Skip("no Citus cluster: run the test with packaging/with-citus.sh")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	address, nodes, err := makeCluster(ctx, server, "test_"+strings.ToLower(rand.Text()))
	shared.Lock()
	shared.nodes = append(shared.nodes, nodes...)
	shared.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// dropNodes deletes databases that makeCluster created.
func dropNodes(nodes []string) {
	server, err := url.Parse(os.Getenv(CitusEnv))
	for _, node := range nodes {
		u, _ := url.Parse(node) // a URL of makeCluster
		name := strings.TrimPrefix(u.Path, "/")
		if err == nil {
			u.Path = server.Path
			err = execute(u.String(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the test database", name, "was not deleted:", err)
		}
	}
}

// makeCluster creates a database on all nodes of the cluster of server and joins them.
func makeCluster(ctx context.Context, server, name string) (address string, nodes []string, err error) {
	coordinator, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", nil, err
	}
	defer coordinator.Close(ctx)
	// Joining nodes changes roles, which all databases of a server share. Two changes at a time fail.
	if _, err := coordinator.Exec(ctx, `SELECT pg_advisory_lock(hashtext('makeCluster'))`); err != nil {
		return "", nil, err
	}
	rows, err := coordinator.Query(ctx, `SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid`)
	if err != nil {
		return "", nil, err
	}
	type node struct {
		Nodename string
		Nodeport int32
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[node])
	if err != nil {
		return "", nil, err
	}
	for i, n := range list {
		u, err := url.Parse(server)
		if err != nil {
			return "", nodes, err
		}
		u.Host = net.JoinHostPort(n.Nodename, strconv.Itoa(int(n.Nodeport)))
		if err := execute(u.String(), "CREATE DATABASE "+name); err != nil {
			return "", nodes, fmt.Errorf("create a database on %s: %w", u.Host, err)
		}
		u.Path = "/" + name
		nodes = append(nodes, u.String())
		if err := execute(u.String(), "CREATE EXTENSION citus"); err != nil {
			return "", nodes, err
		}
		join := fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %d)", n.Nodename, n.Nodeport)
		if i > 0 {
			join = fmt.Sprintf("SELECT citus_add_node('%s', %d)", n.Nodename, n.Nodeport)
		}
		if err := execute(nodes[0], join); err != nil {
			return "", nodes, err
		}
	}
	return nodes[0], nodes, nil
}
