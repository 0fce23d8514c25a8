package bench_test

import (
	"strings"
	"testing"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
	"cloudburst/lab/bench"
)

func TestTwoNodesNotifyEachSubscriberOnce(t *testing.T) {
	fulltest.Needs(t, "PostgreSQL")
	cluster, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	url, err := cluster.Database("bench")
	if err != nil {
		t.Fatal(err)
	}
	o := small(t)
	o.Database = url
	r, err := bench.Cluster{Common: o, Subscribers: 1000}.Run(t.Context())
	check(t, r, err, "duplicates")
	for _, name := range []string{"one node", "two nodes", "SQLite", "two nodes ÷ one", "PostgreSQL ÷ SQLite", "notified by the second node"} {
		found := false
		for _, f := range r.Figures {
			found = found || f.Name == name && (f.Value > 0 || f.Unit == "%")
		}
		if !found {
			t.Errorf("there is no figure %q", name)
		}
	}
}

func TestClusterBenchmarkRequiresADatabaseURL(t *testing.T) {
	t.Setenv("CLOUDBURST_TEST_POSTGRES", "")
	_, err := bench.Cluster{}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "with-postgres.sh") {
		t.Errorf("got %v, want what to do", err)
	}
}
