package storetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env names the environment variable with the address of a server to use instead
// of a cluster of our own. Its user may make databases.
const Env = "CLOUDBURST_TEST_POSTGRES"

// shared is the cluster that all tests of one package use; tests only.
var shared struct {
	sync.Mutex
	main    bool // Main runs, and will stop it
	cluster *Cluster
	err     error
}

// Main runs a package's tests and then stops the cluster that [Postgres] started
// for them. Call it from TestMain:
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
	return code
}

// Postgres returns the address of an empty database of a real server, which goes
// with the test. The package's TestMain must use [Main]. Without PostgreSQL on the
// machine the test fails.
func Postgres(t testing.TB) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	if address := os.Getenv(Env); address != "" {
		return makeDatabase(t, address, name)
	}
	shared.Lock()
	if !shared.main {
		shared.Unlock()
		t.Fatal("storetest.Postgres needs storetest.Main in TestMain, which stops the server")
	}
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = StartCluster()
	}
	cluster, err := shared.cluster, shared.err
	shared.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return makeDatabase(t, cluster.URL("postgres"), name)
}

// makeDatabase makes a database on the server at address, and removes it after the test.
func makeDatabase(t testing.TB, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%s is not an address: %v", Env, err)
	}
	execute := func(text string) error {
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
	if err := execute("CREATE DATABASE " + name); err != nil {
		t.Fatalf("making a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := execute("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Logf("the test's database %s stays: %v", name, err)
		}
	})
	u.Path = "/" + name
	return u.String()
}
