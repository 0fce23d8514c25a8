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
	// A long run: go test ./lab/powertest -run PowerCuts -power.cycles 1000 -timeout 0
	cyclesFlag = flag.Int("power.cycles", 0, "how often the power is cut (0: 6, and three of the planted bugs)")
	seedFlag   = flag.Uint64("power.seed", 0, "what is random here is chosen by this (0: by the clock)")
	notesFlag  = flag.Bool("power.notes", false, "as where no disk can be mounted: only what SQLite writes can be lost")
	binaryFlag = flag.String("power.binary", "", "the program, built already; lab/planted for the tests of planted bugs")
)

// built are the programs with and without planted bugs.
var built program.Builds

func TestMain(m *testing.M) {
	code := m.Run()
	_ = built.Remove()
	os.Exit(code)
}

// build makes the program of a package.
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
			t.Logf("the same choices again (the machine's own timing is never the same): go test ./lab/powertest -run '^%s$' -power.seed=%d -power.cycles=%d",
				strings.ReplaceAll(t.Name(), "/", "$/^"), s, *cyclesFlag)
		}
	})
	return s
}

// cuts is one run. It returns what was broken, and says what it came to.
func cuts(t *testing.T, w *harness, o crashtest.Options) (crashtest.Report, []string) {
	t.Helper()
	w.keeper = newKeeper(o.Binary, w.dir)
	began := time.Now()
	r, err := crashtest.Run(t.Context(), w.options(o))
	w.keeper.rest()
	broken := append(append(r.Broken, w.keeper.broken...), w.broken...)
	if err != nil {
		broken = append(broken, "no start: "+err.Error())
	}
	k := w.keeper
	if err != nil {
		t.Log(err)
	}
	t.Logf("%d power cuts that changed %d files; %d files of authors, %d backups and keys, %d posts in a feed file acknowledged, looked at %d times; %s, in %s",
		w.cuts, w.lost, len(k.files), len(k.copies), len(k.posts), k.checked, r, time.Since(began).Round(time.Second))
	return r, broken
}

func TestPowerCutsLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	n := *cyclesFlag
	if n == 0 {
		n = 6
	}
	s := seed(t)
	w := newHarness(t, s)
	w.strike = true
	r, broken := cuts(t, w, crashtest.Options{Binary: build(t, w.program()), Cycles: n, Enough: w.lostSomething, Seed: s, Log: func(text string) { t.Log(text) }})
	outside.Fail(t, broken)
	k := w.keeper
	if len(k.files) == 0 || len(k.copies) == 0 || len(k.posts) == 0 || r.Live == 0 || r.Saved == 0 || r.Posts == 0 || w.cuts < n || w.lost == 0 {
		t.Error("too little happened to prove anything")
	}
}

// A disk that says that it has synced something and has not is a program that forgot to.
func TestWhatIsNotSyncedIsMissed(t *testing.T) {
	t.Parallel()
	bin := build(t, program.Planted)
	lost := []string{"registration lost", "cancel undone", "ping lost", "request lost", "save lost", "post lost", "not listed", "accepted again", "file lost"}
	all := map[string]struct {
		ignore func(Op) bool
		bug    string
		signs  []string
		noted  bool // seen also where only what SQLite writes can be lost
	}{
		"the journal, as with synchronous=NORMAL": {func(o Op) bool { return strings.HasSuffix(o.Path, database+"-wal") }, "", append(lost, "no start"), true},
		"anything, as with synchronous=OFF":       {func(Op) bool { return true }, "", append(lost, "no start", "damaged"), true},
		"a feed file":                             {func(o Op) bool { return strings.HasSuffix(o.Path, ".tmp") }, "", []string{"feed file lost"}, false},
		"the folder of a feed file":               {func(o Op) bool { return o.Path == "www" }, "", []string{"feed file lost"}, false},
		"a backup":                                {func(o Op) bool { return strings.HasSuffix(o.Path, ".part") }, "", []string{"backup lost"}, false},
		"the folder of backups":                   {func(o Op) bool { return o.Path == "backup" }, "", []string{"backup lost"}, false},
		"nothing, but it answers before":          {func(Op) bool { return false }, "ack-before-commit", []string{"registration lost", "cancel undone"}, true},
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
				if w.notes != "" && !c.noted {
					t.Skip("not shown without a disk of our own")
				}
				w.strike = true
				w.from(func(o Op) Failure { return Failure{Ignore: o.Kind == "sync" && c.ignore(o)} })
				_, broken := cuts(t, w, crashtest.Options{Binary: bin, Cycles: 4, Ordeal: 3, Settle: 10 * time.Second, Seed: s + try, Env: []string{"CLOUDBURSTBUG=" + c.bug}})
				if b := outside.Sign(broken, c.signs...); b != "" {
					t.Log(b)
					return
				}
			}
			t.Error("not seen in five runs")
		})
	}
}
