package clustertest

import (
	"testing"

	"cloudburst/internal/store/storetest"
)

// The machine of the database is lost for good, and its standby takes its place: what was
// acknowledged is there, for each commit waited for both.
func TestStandbyReplacesTheDatabase(t *testing.T) {
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
