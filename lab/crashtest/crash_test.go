package crashtest

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/storetest"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

var (
	// The command for a long run is: go test ./lab/crashtest -crash.cycles 5000 -timeout 12h
	cyclesFlag = flag.Int("crash.cycles", 0, "how often the program is killed (0: 24 on SQLite, 9 on PostgreSQL)")
	daysFlag   = flag.Bool("crash.commits", false, "crash at every commit of the scripted day, not only at some")
	seedFlag   = flag.Uint64("crash.seed", 0, "seed of the random choices (0: from the clock)")
)

// built caches the executables with and without planted bugs.
var built program.Builds

func TestMain(m *testing.M) {
	code := storetest.Main(m)
	_ = built.Remove()
	os.Exit(code)
}

// build builds the program in package pkg once, and returns the path of the executable.
func build(t *testing.T, pkg string) string {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	bin, err := built.Build(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// run calls Run with the common options. If the test fails, it logs the command that repeats the
// run.
func run(t *testing.T, o Options) Report {
	t.Helper()
	o.Dir = t.TempDir()
	o.Log = func(s string) { t.Log(s) }
	if o.Seed = *seedFlag; o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat the random choices (timing differs): go test ./lab/crashtest -run '^%s$' -crash.seed=%d -crash.cycles=%d",
				strings.ReplaceAll(t.Name(), "/", "$/^"), o.Seed, o.Cycles)
		}
	})
	began := time.Now()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, in %s", r, time.Since(began).Round(time.Second))
	if len(r.Broken) > 0 {
		t.Logf("end of the log of the program:\n%s", program.LogTail(o.Dir, 0))
	}
	return r
}

func cycles(def int) int {
	if *cyclesFlag > 0 {
		return *cyclesFlag
	}
	return def
}

// kept fails the test for each violated guarantee, and if too few events occurred.
func kept(t *testing.T, r Report) {
	t.Helper()
	outside.Fail(t, r.Broken)
	for what, n := range map[string]int{
		"registrations": r.Registered - r.Crashes, "pings": r.Pings - r.Crashes, "cancels": r.Cancelled, "pings acknowledged as pending": r.Pending,
		"subscriptions live": r.Live, "notifications": r.Notifications, "refused notifications": r.Refused, "slow notifications": r.Slow,
		"confirmed requests of WebSub": r.Confirmed - r.Crashes, "declined ones": r.Declined, "ended ones": r.Ended, "denials": r.Denied, "contents": r.Contents, "signed contents": r.Signed,
		"registrations by CNWS": r.CNWS, "pings over WebSub": r.Published, "pings of sites on the list": r.Listed,
		"saves of hosted feeds": r.Saved - r.Crashes, "documents of hosted feeds": r.Served - r.Crashes, "rendered ones": r.Rendered,
		"changes of posts": r.Posts - 2*r.Crashes, "accepted headers": r.LetIn, "headers rejected after a crash": r.Replayed,
	} {
		if n <= 0 {
			t.Errorf("too few %s for a valid result: %s", what, r)
		}
	}
}

func TestAcknowledgedWorkSurvivesWhenTheProgramIsKilled(t *testing.T) {
	t.Parallel()
	kept(t, run(t, Options{Binary: build(t, program.Real), Cycles: cycles(24), TargetEvery: 4}))
}

// With PostgreSQL, the work of a crashed process waits until the leases of this process end.
func TestAcknowledgedWorkSurvivesKillOnPostgreSQL(t *testing.T) {
	t.Parallel()
	kept(t, run(t, Options{Binary: build(t, program.Real), Cycles: cycles(9), TargetEvery: 3, LateWrites: time.Second, Args: []string{"--database", storetest.Postgres(t)}}))
}

func TestCrashTestDetectsPlantedBugs(t *testing.T) {
	t.Parallel()
	bin := build(t, program.Planted)
	bugs := map[string][]string{
		"ack-before-commit": {"registration lost", "cancel undone"},
		"forget-failures":   {"ping lost"},
		"forget-parked":     {"ping lost"},
		"forget-arrivals":   {"too many notifications", "no end"},
		"finish-first":      {"ping lost"},
		"ack-slow-pings":    {"ping lost"},
		"ack-before-asking": {"request lost"},
		"secret-too-soon":   {"wrong signature"},
		"other-content":     {"wrong content", "old after new", "ping lost"},
		"announce-late":     {"ping lost", "not listed"},
		"decide-halfway":    {"cancel undone", "registration lost", "wrong secret"},
		"save-late":         {"save lost"},
		"notify-first":      {"ping lost"},
		"nonce-late":        {"accepted again"},
		"post-late":         {"post lost"},
	}
	together(t, slices.Sorted(maps.Keys(bugs)), func(bug string) {
		t.Run(bug, func(t *testing.T) {
			// Only some crashes trigger the bug. Several short runs find the bug sooner than a
			// single long run. On a busy machine, more runs are necessary.
			var r Report
			for range 20 {
				r = run(t, Options{Binary: bin, Cycles: cycles(3), TargetEvery: 2, Settle: 20 * time.Second, Env: []string{"CLOUDBURSTBUG=" + bug}})
				if b := outside.FirstViolation(r.Broken, bugs[bug]...); b != "" {
					t.Log(b)
					return
				}
			}
			t.Errorf("the harness did not find the bug in twenty runs: %s", r)
		})
	})
}

// atOnce is the number of concurrent runs. It can exceed the number of processors, because the
// runs mostly wait. t.Parallel would limit the runs to the number of processors.
const atOnce = 4

// together calls f for each name, in up to atOnce concurrent calls.
func together(t *testing.T, names []string, f func(name string)) {
	t.Helper()
	var group sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, name := range names {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			f(name)
		})
	}
	group.Wait()
}
