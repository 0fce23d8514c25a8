package clustertest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/storetest"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

var (
	// The command for a long run is: go test ./lab/clustertest -v -cluster.rounds 20 -timeout 0
	roundsFlag = flag.Int("cluster.rounds", 0, "how often each node is disturbed (0: the short form)")
	olderFlag  = flag.String("cluster.older", "", "a program built from an older commit, which this one replaces")
	seedFlag   = flag.Uint64("cluster.seed", 1, "seed of the random choices")
)

// built caches the executables of the tests. server is a separate database server, because the
// nodes of all tests need more connections than a shared server has.
var (
	built     program.Builds
	binaries  struct{ plain, planted, next string }
	server    *storetest.Cluster
	databases atomic.Int64
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return 0 // every scenario takes minutes and needs PostgreSQL
	}
	if err := parallel(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "cloudburst-cluster-")
	if err == nil {
		defer os.RemoveAll(dir)
		defer func() { _ = built.Remove() }() // the folder is temporary, so an error has no consequence
		err = prepare(dir)
	}
	if err == nil && !onCitus() {
		if server, err = storetest.StartCluster("max_connections=600", "fsync=off", "full_page_writes=off"); err == nil {
			defer server.Stop()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return storetest.Main(m)
}

// onCitus reports whether the nodes use distributed databases of a Citus cluster.
func onCitus() bool { return os.Getenv(storetest.CitusEnv) != "" }

// database returns the URL of an empty database. If the environment names a Citus cluster, the
// database is distributed.
func database(t *testing.T) string {
	t.Helper()
	if !onCitus() {
		url, err := server.Database(fmt.Sprintf("cluster%d", databases.Add(1)))
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	url := storetest.Citus(t)
	w, err := postgres.Fill(t.Context(), url, false, true)
	if err == nil {
		err = errors.Join(w.Finish(t.Context()), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// parallel allows more concurrent scenarios than processors, because scenarios mostly wait for
// the end of a lease. A number on the command line has priority.
func parallel() error {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if asked {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
}

func prepare(dir string) (err error) {
	ctx := context.Background()
	if binaries.plain, err = built.Build(ctx, program.Real); err != nil {
		return err
	}
	if binaries.planted, err = built.Build(ctx, program.Planted); err != nil {
		return err
	}
	newer, err := overlay(dir)
	if err != nil {
		return err
	}
	binaries.next, err = built.Build(ctx, program.Real, "-overlay", newer)
	return err
}

// overlay creates a build overlay for a later version of the program. This version has another
// version number and one more migration, which only adds to the schema.
func overlay(dir string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	put := func(path, text string) error {
		file := filepath.Join(dir, filepath.Base(path))
		replaced[filepath.Join(root, path)] = file
		return os.WriteFile(file, []byte(text), 0o600)
	}
	const main = "internal/app/app.go"
	now, err := os.ReadFile(filepath.Join(root, main))
	if err != nil {
		return "", err
	}
	later := version.ReplaceAllString(string(now), `const Version = "99.0.0"`)
	if later == string(now) {
		return "", fmt.Errorf("%s contains no version", main)
	}
	err = errors.Join(put(main, later), put("internal/store/sqldb/migrations/9999_later.sql",
		"CREATE TABLE later (id BIGINT NOT NULL PRIMARY KEY);\nALTER TABLE topic ADD COLUMN later BIGINT;\nALTER TABLE subscription ADD COLUMN later BIGINT NOT NULL DEFAULT 0;\n"))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// version matches the line of the source code with the program's version.
var version = regexp.MustCompile(`const Version = ".*"`)

// harness returns a cluster for one test, and closes it at the end of the test.
func harness(t *testing.T, o Options) *Cluster {
	t.Helper()
	if o.Binary == "" {
		o.Binary = binaries.plain
	}
	if o.Database == "" {
		o.Database = database(t)
	}
	o.Dir, o.Seed, o.Log = t.TempDir(), *seedFlag, t.Logf
	w, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		if t.Failed() {
			t.Log(w.logTails())
		}
	})
	return w
}

// kept closes a cluster, and fails the test for each violated guarantee.
func kept(t *testing.T, w *Cluster, err error) Report {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.End()
	if err != nil {
		t.Fatal(err)
	}
	outside.Fail(t, r.Broken)
	t.Log(r)
	return r
}

// rounds returns the number of repetitions: -cluster.rounds, or def if the flag is not set.
func rounds(def int) int {
	if *roundsFlag > 0 {
		return *roundsFlag
	}
	return def
}

func TestNodesShareTheDeliveriesOfAChange(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	kept(t, w, w.Together(24_000))
}

func TestAnotherNodeTakesOverFromAKilledNode(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	r := kept(t, w, w.Killed(rounds(1)))
	t.Logf("taken over within p50 %s, p99 %s; the lease and two seconds are %s", r.Quantile(0.5), r.Quantile(0.99), lease+2*time.Second)
}

func TestRestartedNodeContinuesItsDeliveriesOnCitus(t *testing.T) {
	t.Parallel()
	if !onCitus() {
		t.Skip("no Citus cluster: run the test with packaging/with-citus.sh")
	}
	w := harness(t, Options{})
	kept(t, w, w.Resumed(rounds(1)))
}

func TestAnotherNodeTakesOverFromAPausedNode(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	pause := lease + 3*time.Second
	if *roundsFlag > 0 {
		pause = 2 * time.Minute
	}
	kept(t, w, w.Frozen(rounds(1), pause))
}

func TestClusterSurvivesARestartOfTheDatabase(t *testing.T) {
	t.Parallel()
	own, err := storetest.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	database, err := own.Database("hub")
	if err != nil {
		t.Fatal(err)
	}
	w := harness(t, Options{Database: database})
	n := 0
	end := func() error {
		if n++; n%2 == 1 {
			own.Halt() // PostgreSQL's fast shutdown
		} else {
			own.Crash() // PostgreSQL's immediate shutdown, like a crash
		}
		return nil
	}
	kept(t, w, w.Restarted(2*rounds(1), end, own.Start))
}

func TestLostDatabaseConnectionLosesNoAcknowledgedWork(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]wire{"torn": torn, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := harness(t, Options{})
			kept(t, w, w.Cut(how))
		})
	}
}

func TestPagesOfEveryNodeShowChangesLive(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	kept(t, w, w.Live())
}

func TestWSSENonceIsAcceptedByOneNodeOnly(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	kept(t, w, w.Nonces(4))
}

func TestPeriodicWorkIsDoneByOneNodeOnly(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{})
	kept(t, w, w.Once(rounds(3)))
}

func TestHourlySweepIsSharedByAllNodes(t *testing.T) {
	t.Parallel()
	w := harness(t, Options{Env: []string{"CLOUDBURST_HUB_MAX_ERRORS=1"}})
	kept(t, w, w.Hour())
}

// A later version replaces this version. If -cluster.older names an earlier version, this version
// also replaces the earlier one.
func TestRollingUpgradeRejectsNoClient(t *testing.T) {
	t.Parallel()
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		w := harness(t, Options{})
		kept(t, w, w.Rolled(binaries.next, true))
	})
	if *olderFlag != "" {
		t.Run("earlier", func(t *testing.T) {
			t.Parallel()
			w := harness(t, Options{Binary: *olderFlag})
			kept(t, w, w.Rolled(binaries.plain, false))
		})
	}
}

// For each planted bug, the matching scenario must report one of the listed violations.
func TestClusterTestDetectsPlantedBugs(t *testing.T) {
	t.Parallel()
	killed := func(w *Cluster) error { return w.Killed(1) }
	for bug, c := range map[string]struct {
		scenario func(*Cluster) error
		signs    []string
	}{
		"epoch-ignored":      {func(w *Cluster) error { return w.Frozen(1, lease+3*time.Second) }, []string{"too many notifications", "old after new"}},
		"lease-for-ever":     {killed, []string{"not taken over", "ping lost"}},
		"hints-only":         {killed, []string{"not taken over", "ping lost"}},
		"mark-beyond":        {killed, []string{"ping lost"}},
		"nonce-here":         {func(w *Cluster) error { return w.Nonces(1) }, []string{"accepted again"}},
		"hour-for-everybody": {func(w *Cluster) error { return w.Hour() }, []string{"before the hour"}},
		"deaf-tail":          {func(w *Cluster) error { return w.Live() }, []string{"not live"}},
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			// One run finds the bug only with some probability, so the test repeats the run.
			var r Report
			for range 3 {
				w := harness(t, Options{Binary: binaries.planted, EventTimeout: lease + 7*time.Second,
					Env: []string{"CLOUDBURSTBUG=" + bug, "CLOUDBURST_HUB_MAX_ERRORS=1"}})
				if err := c.scenario(w); err != nil {
					t.Log(err) // a planted bug can end the scenario early
				}
				var err error
				if r, err = w.End(); err != nil {
					t.Fatal(err)
				}
				if b := outside.FirstViolation(r.Broken, c.signs...); b != "" {
					t.Log(b)
					return
				}
				w.Close()
			}
			t.Errorf("the harness did not find the bug in three runs: %s %q", r, r.Broken[:min(3, len(r.Broken))])
		})
	}
}
