package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"cloudburst/internal/app"
	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/lab/bench"
)

// TestMain lets the test binary act as the program: measurements start it as server, receiver and
// loop.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "bench" && os.Args[1] != "serve" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := program(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func program(ctx context.Context, name string, args []string) error {
	if name == "bench" {
		root := &cobra.Command{Use: "bench", SilenceUsage: true}
		root.AddCommand(bench.Commands()...)
		root.SetArgs(args)
		return root.ExecuteContext(ctx)
	}
	var environ []string
	for i := 0; i+1 < len(args); i += 2 {
		key := strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(args[i], "--"))
		environ = append(environ, "CLOUDBURST_"+strings.ToUpper(key)+"="+args[i+1])
	}
	e, err := config.Load(config.Options{Environ: environ})
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, e.Config, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer a.Close()
	return a.Run(ctx)
}

// check prints a report. It fails the test if a figure named in zero is missing or is not 0.
func check(t *testing.T, r *bench.Report, err error, zero ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(t.Output(), false); err != nil {
		t.Fatal(err)
	}
	have := map[string]float64{}
	for _, f := range r.Figures {
		have[f.Name] = f.Value
	}
	for _, name := range zero {
		if v, ok := have[name]; !ok || v != 0 {
			t.Errorf("%s is %g (there: %v), want 0", name, v, ok)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func small(t *testing.T) bench.Common {
	fulltest.Needs(t, "a build of the program")
	t.Setenv("TMPDIR", t.TempDir())
	return bench.Common{Hosts: 5, Rounds: 1, Concurrent: 8, Progress: t.Output(), NoFile: 1024}
}

func TestFanoutNotifiesEachRegisteredSubscriberOnce(t *testing.T) {
	r, err := bench.Fanout{Common: small(t), Subscribers: 60, Register: bench.ByEndpoint, Latency: 3}.Run(t.Context())
	check(t, r, err, "duplicates", "false errors")
}

func TestFanoutNotifiesEachImportedSubscriberOnceAlongsideSlowOnes(t *testing.T) {
	r, err := bench.Fanout{Common: small(t), Subscribers: 700, Register: bench.ByImport, Latency: -1,
		NewConnections: true, SlowShare: 0.1, Slow: 20_000_000}.Run(t.Context())
	check(t, r, err, "duplicates", "false errors")
}

func TestFanoutDeliversContentToEverySubscriber(t *testing.T) {
	r, err := bench.Fanout{Common: small(t), Subscribers: 200, Register: bench.ByEndpoint, Latency: 3, Via: bench.ViaWebSub, Size: 2000}.Run(t.Context())
	check(t, r, err, "duplicates", "false errors", "wrong contents")
}

func TestFanoutDeliversSignedContentAfterImport(t *testing.T) {
	r, err := bench.Fanout{Common: small(t), Subscribers: 300, Register: bench.ByImport, Latency: -1, Via: bench.ViaWebSub, Size: 200_000, Signed: true}.Run(t.Context())
	check(t, r, err, "duplicates", "false errors", "wrong contents")
}

func TestSubscribersAreNotifiedOfExactlyTheChangedFeeds(t *testing.T) {
	r, err := bench.Ping{Common: small(t), Feeds: 40, Changed: 0.5, Clients: 4}.Run(t.Context())
	check(t, r, err, "changes without notification", "notifications without a change, or repeated")
}

func TestEveryAcknowledgedPingIsListedAfterAKill(t *testing.T) {
	r, err := bench.Changes{Common: small(t), Rate: 50, During: 200_000_000, Clients: 4, Readers: 2, Rows: 60, Reading: 50_000_000}.Run(t.Context())
	check(t, r, err, "listed pings differ from accepted pings", "lost by kill -9")
}

func TestPublishedPostReachesSubscribersAndOpenPages(t *testing.T) {
	r, err := bench.Write{Common: small(t), Subscribers: 20, Saves: 2, Posts: 30}.Run(t.Context())
	check(t, r, err)
	have := map[string]bool{}
	for _, f := range r.Figures {
		have[f.Name] = f.Value > 0
	}
	for _, name := range []string{"save → last subscriber notified, p50", "save → item on an open page, p50", "imported posts", "a save with many posts ÷ with few"} {
		if !have[name] {
			t.Errorf("there is no figure %q in %v", name, r.Figures)
		}
	}
}

func TestRiverBenchmarkReportsEveryMeasurement(t *testing.T) {
	r, err := bench.River{Common: small(t), Feeds: 12, Items: 240, Pages: 3, Pings: 1}.Run(t.Context())
	check(t, r, err)
	have := map[string]bool{}
	for _, f := range r.Figures {
		have[f.Name] = f.Value > 0 && f.Target != ""
	}
	for _, name := range []string{"river, p50", "unread items, p99", "mark all of 240 read, median", "undo it, median", "ping → item on the open page, p50"} {
		if !have[name] {
			t.Errorf("there is no figure %q with a limit in %v", name, r.Figures)
		}
	}
}

func TestSlowSubscribersAreNotDropped(t *testing.T) {
	r, err := bench.Slow{Common: small(t), Quick: 20, Slow: 50, SlowHosts: 5, Delay: 400_000_000}.Run(t.Context())
	check(t, r, err, "duplicates", "false errors")
}

func TestManySubscriptionsSurviveARestart(t *testing.T) {
	r, err := bench.Million{Common: small(t), Subscriptions: 500, Feeds: 10, Pings: 5}.Run(t.Context())
	check(t, r, err, "duplicates", "missing")
}

func TestInvalidBenchmarkOptionsAreRejected(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(context.Context) (*bench.Report, error){
		"a share above 1":               bench.Fanout{SlowShare: 2}.Run,
		"an unknown way to register":    bench.Fanout{Register: "post"}.Run,
		"an unknown protocol":           bench.Fanout{Via: "post"}.Run,
		"signatures without WebSub":     bench.Fanout{Signed: true}.Run,
		"a feed below the minimum size": bench.Fanout{Size: 10}.Run,
		"slow subscribers via WebSub":   bench.Fanout{Via: bench.ViaWebSub, SlowShare: 0.1}.Run,
		"no clients":                    bench.Ping{Clients: -1}.Run,
		"no pings":                      bench.Changes{Rate: -1}.Run,
		"no items":                      bench.River{Items: -1}.Run,
		"no slow subscribers":           bench.Slow{Slow: -1}.Run,
		"more feeds than subscriptions": bench.Million{Subscriptions: 5}.Run,
		"a missing program":             bench.Fanout{Common: bench.Common{Exe: "/nonexistent/cloudburst"}}.Run,
	} {
		if _, err := run(t.Context()); err == nil {
			t.Errorf("%s was measured", name)
		}
	}
}
