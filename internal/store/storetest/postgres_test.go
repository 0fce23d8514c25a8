package storetest

import (
	"os"
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestPostgresURLFromEnvironmentIsUsed(t *testing.T) {
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	t.Setenv(Env, cluster.URL("postgres"))
	var first string
	t.Run("one test", func(t *testing.T) {
		first = Postgres(t)
		if !strings.Contains(first, strings.SplitN(cluster.URL("x"), "/x", 2)[0]) {
			t.Errorf("%s is not on %s", first, cluster.URL("postgres"))
		}
		if err := execute(first, "CREATE TABLE left_behind (x INT)"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("another", func(t *testing.T) {
		if second := Postgres(t); second != first {
			t.Errorf("got %s, want %s again", second, first)
		}
		if err := execute(first, "CREATE TABLE left_behind (x INT)"); err != nil {
			t.Errorf("the database is not empty: %v", err)
		}
	})
	shared.Lock()
	defer shared.Unlock()
	if len(shared.made) != 1 {
		t.Errorf("databases to delete at the end: %v, want one", shared.made)
	}
	shared.made, shared.free = nil, nil // deleted with the cluster
}

func TestCrashedClusterStartsAgain(t *testing.T) {
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	address, err := cluster.Database("kept")
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(address, "CREATE TABLE kept (x INT)"); err != nil {
		t.Fatal(err)
	}
	cluster.Crash()
	if err := execute(address, "SELECT 1"); err == nil {
		t.Error("a crashed server accepts connections")
	}
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	if err := execute(address, "INSERT INTO kept VALUES (1)"); err != nil {
		t.Error(err)
	}
}
