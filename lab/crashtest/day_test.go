package crashtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cloudburst/internal/store/storetest"
	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

// A crash immediately before or after any commit must not lose acknowledged work. With
// PostgreSQL, the test also loses the response to a commit without a crash.
func TestNoCrashAtAnyCommitLosesAcknowledgedWork(t *testing.T) {
	t.Parallel()
	bin := build(t, program.Planted)
	for store, how := range map[string][]string{"SQLite": {"before", "after"}, "PostgreSQL": {"before", "after", "lose"}} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			options := func(t *testing.T, day string) Options {
				o := Options{Binary: bin, Day: day, Feeds: 1}
				if store == "PostgreSQL" {
					o.LateWrites, o.Args = time.Second, []string{"--database", storetest.Postgres(t)}
				}
				return o
			}
			file := filepath.Join(t.TempDir(), "commits")
			whole(t, options(t, "count "+file))
			counted, err := os.ReadFile(file)
			if err != nil || len(counted) < 20 {
				t.Fatalf("%d commits in a day: %v", len(counted), err)
			}
			var days []string
			for n := range counted {
				for _, what := range how {
					days = append(days, fmt.Sprintf("%s %d", what, n+1))
				}
			}
			t.Logf("%d commits, %d boundaries", len(counted), len(days))
			if !*daysFlag {
				seed := *seedFlag
				if seed == 0 {
					seed = uint64(time.Now().UnixNano())
				}
				t.Logf("-crash.seed=%d", seed)
				rand.New(rand.NewPCG(seed, 3)).Shuffle(len(days), func(i, j int) { days[i], days[j] = days[j], days[i] })
				days = days[:4]
			}
			together(t, days, func(day string) {
				t.Run(day, func(t *testing.T) { whole(t, options(t, day)) })
			})
		})
	}
}

// whole runs one scripted day, and fails the test if a guarantee is violated.
func whole(t *testing.T, o Options) {
	t.Helper()
	outside.Fail(t, run(t, o).Broken)
}
