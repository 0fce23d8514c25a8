package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/fulltest"
)

// Env is the environment variable with the URL of a server to use instead of a temporary cluster.
// Its user must be allowed to create databases.
const Env = "CLOUDBURST_TEST_POSTGRES"

// shared is the server that all tests of a package use.
var shared struct {
	sync.Mutex
	main    bool // Main is running and will clean up
	cluster *Cluster
	err     error
	made    []string // URLs of databases to delete at the end, on an external server
	free    []string // URLs of databases that tests have released
	nodes   []string // URLs of databases to delete at the end, on the nodes of a Citus cluster
}

// Main runs a package's tests and then stops the cluster that [Postgres] started for them. Call it
// from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
func Main(m *testing.M) int {
	shared.Lock()
	shared.main = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.Stop()
	}
	dropNodes(shared.nodes)
	for _, address := range shared.made {
		u, _ := url.Parse(address) // a URL of this package
		if err := execute(os.Getenv(Env), "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)"); err != nil {
			fmt.Fprintln(os.Stderr, "the test database", u.Path, "was not deleted:", err)
		}
	}
	return code
}

// Postgres returns the URL of an empty database on a real server, which belongs to the test until
// it ends. The package's TestMain must use [Main]. Without PostgreSQL on the machine the test
// fails; with -short it is skipped.
func Postgres(t testing.TB) string {
	t.Helper()
	fulltest.Needs(t, "PostgreSQL")
	address, err := lend()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Reuse the database: emptying it is much cheaper than creating one.
		if err := execute(address, "DROP SCHEMA public CASCADE; CREATE SCHEMA public"); err != nil {
			t.Logf("the test database cannot be reused: %v", err)
			return
		}
		shared.Lock()
		defer shared.Unlock()
		shared.free = append(shared.free, address)
	})
	return address
}

// lend returns a released database, or creates one.
func lend() (string, error) {
	shared.Lock()
	defer shared.Unlock()
	if !shared.main {
		return "", errors.New("storetest.Postgres needs storetest.Main in TestMain, which cleans up")
	}
	if n := len(shared.free); n > 0 {
		address := shared.free[n-1]
		shared.free = shared.free[:n-1]
		return address, nil
	}
	server := os.Getenv(Env)
	if server == "" {
		if shared.cluster == nil && shared.err == nil {
			shared.cluster, shared.err = StartCluster()
		}
		if shared.err != nil {
			return "", shared.err
		}
		server = shared.cluster.URL("postgres")
	}
	address, err := makeDatabase(server, "test_"+strings.ToLower(rand.Text()))
	if err == nil && os.Getenv(Env) != "" {
		shared.made = append(shared.made, address)
	}
	return address, err
}

// makeDatabase creates a database on the server at address and returns its URL.
func makeDatabase(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%s is not an address: %w", Env, err)
	}
	if err := execute(address, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("making a database for the test: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func execute(address, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, text)
	return err
}

// Execute runs SQL on a database that [Postgres] returned.
func Execute(t testing.TB, address, text string) {
	t.Helper()
	if err := execute(address, text); err != nil {
		t.Fatal(err)
	}
}
