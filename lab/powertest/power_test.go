package powertest

import (
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/lab/crashtest"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

var (
	// The command for a long run is: go test ./lab/powertest -run PowerCuts -power.cycles 1000
	// -timeout 0
	cyclesFlag = flag.Int("power.cycles", 0, "number of power cuts (0: 6, and three of the planted bugs)")
	seedFlag   = flag.Uint64("power.seed", 0, "seed of all random choices (0: from the clock)")
	notesFlag  = flag.Bool("power.notes", false, "record the writes of SQLite instead of mounting a disk, so only these can be lost")
	binaryFlag = flag.String("power.binary", "", "file of a built program; of lab/planted for the tests of planted bugs")
)

// built caches the executables with and without planted bugs.
var built program.Builds

func TestMain(m *testing.M) {
	code := m.Run()
	_ = built.Remove()
	os.Exit(code)
}

// build builds the program in package pkg once, and returns the path of the executable.
func build(t *testing.T, pkg string) string {
	t.Helper()
	fulltest.Needs(t, "a build of the program")
	if *binaryFlag != "" {
		return *binaryFlag
	}
	bin, err := built.Build(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func seed(t *testing.T) uint64 {
	t.Helper()
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat the same choices, with other timing: go test ./lab/powertest -run '^%s$' -power.seed=%d -power.cycles=%d",
				strings.ReplaceAll(t.Name(), "/", "$/^"), s, *cyclesFlag)
		}
	})
	return s
}

// cuts executes one run with power cuts. It returns the report and the violated guarantees.
func cuts(t *testing.T, w *harness, o crashtest.Options) (crashtest.Report, []string) {
	t.Helper()
	w.keeper = newKeeper(o.Binary, w.dir)
	began := time.Now()
	r, err := crashtest.Run(t.Context(), w.options(o))
	w.keeper.finish()
	broken := append(append(r.Broken, w.keeper.broken...), w.broken...)
	if err != nil {
		broken = append(broken, "no start: "+err.Error())
	}
	k := w.keeper
	if err != nil {
		t.Log(err)
	}
	t.Logf("%d power cuts that changed %d files; %d files of authors, %d backups and keys, %d posts in a feed file acknowledged, %d checks; %s, in %s",
		w.cuts, w.lost, len(k.files), len(k.copies), len(k.posts), k.checked, r, time.Since(began).Round(time.Second))
	return r, broken
}

func TestPowerCutsLoseNoAcknowledgedWork(t *testing.T) {
	t.Parallel()
	n := *cyclesFlag
	if n == 0 {
		n = 6
	}
	s := seed(t)
	w := newHarness(t, s)
	w.crashAtOperation = true
	r, broken := cuts(t, w, crashtest.Options{Binary: build(t, w.program()), Cycles: n, Enough: w.lostSomething, Seed: s, Log: func(text string) { t.Log(text) }})
	outside.Fail(t, broken)
	k := w.keeper
	if len(k.files) == 0 || len(k.copies) == 0 || len(k.posts) == 0 || r.Live == 0 || r.Saved == 0 || r.Posts == 0 || w.cuts < n || w.lost == 0 {
		t.Error("too few events to prove anything")
	}
}

// A disk that reports a sync without executing it is equivalent to a program that forgets the
// sync.
func TestPowerTestDetectsMissingSyncs(t *testing.T) {
	t.Parallel()
	bin := build(t, program.Planted)
	lost := []string{"registration lost", "cancel undone", "ping lost", "request lost", "save lost", "post lost", "not listed", "accepted again", "file lost"}
	all := map[string]struct {
		ignore   func(Op) bool
		bug      string
		signs    []string
		recorded bool // the missing sync is also detected if only the writes of SQLite can be lost
	}{
		"the journal, as with synchronous=NORMAL": {func(o Op) bool { return strings.HasSuffix(o.Path, database+"-wal") }, "", append(lost, "no start"), true},
		"anything, as with synchronous=OFF":       {func(Op) bool { return true }, "", append(lost, "no start", "damaged"), true},
		"a feed file":                             {func(o Op) bool { return strings.HasSuffix(o.Path, ".tmp") }, "", []string{"feed file lost"}, false},
		"the folder of a feed file":               {func(o Op) bool { return o.Path == "www" }, "", []string{"feed file lost"}, false},
		"a backup":                                {func(o Op) bool { return strings.HasSuffix(o.Path, ".part") }, "", []string{"backup lost"}, false},
		"the folder of backups":                   {func(o Op) bool { return o.Path == "backup" }, "", []string{"backup lost"}, false},
		"nothing, with an early response":         {func(Op) bool { return false }, "ack-before-commit", []string{"registration lost", "cancel undone"}, true},
	}
	s := seed(t)
	names := slices.Sorted(maps.Keys(all))
	if *cyclesFlag == 0 {
		rand.New(rand.NewPCG(s, 5)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = names[:3]
	}
	for _, name := range names {
		c := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for try := range uint64(5) {
				w := newHarness(t, s+try)
				if w.record != "" && !c.recorded {
					t.Skip("this bug needs a mounted disk")
				}
				w.crashAtOperation = true
				w.failFromNowOn(func(o Op) Failure { return Failure{Ignore: o.Kind == "sync" && c.ignore(o)} })
				_, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 4, TargetEvery: 3, Settle: 10 * time.Second, Seed: s + try, Env: []string{"CLOUDBURSTBUG=" + c.bug}})
				if b := outside.FirstViolation(broken, c.signs...); b != "" {
					t.Log(b)
					return
				}
			}
			t.Error("not detected in five runs")
		})
	}
}
