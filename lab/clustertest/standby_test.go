package clustertest

import (
	"testing"

	"cloudburst/internal/store/storetest"
)

// The standby server replaces the database server that was lost. All acknowledged work exists,
// because each commit waits for both servers.
func TestStandbyDatabaseReplacesThePrimary(t *testing.T) {
	t.Parallel()
	first, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Stop)
	if _, err := first.Database("hub"); err != nil {
		t.Fatal(err)
	}
	second, err := first.Standby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Stop)
	w := harness(t, Options{Database: storetest.Either(first, second, "hub")})
	kept(t, w, w.Restarted(1, func() error { first.Crash(); return nil }, second.Promote))
}
