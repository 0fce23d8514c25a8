package readercheck_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/nettest"
	"cloudburst/internal/readercheck"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqlite"
)

// watched is the time, on the fake clock of synctest, for which the test observes the reader of
// this program.
const watched = 8 * 24 * time.Hour

// TestCloudburstPassesEveryFeedReaderRule scores this program over a simulated week.
func TestCloudburstPassesEveryFeedReaderRule(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	dir := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		probes := &readercheck.Server{}
		var internet nettest.Internet
		stop := serve(t, &internet, probes)
		defer stop()
		for day := range int(watched / (24 * time.Hour)) {
			read(t, &internet, dir, probes, day == 0, 24*time.Hour)
		}
		list := probes.Reports()
		if len(list) != 1 {
			t.Fatalf("%d readers were distinguished: %+v", len(list), list)
		}
		r := list[0]
		t.Log(r)
		for _, m := range r.Rules {
			want := readercheck.Kept
			if m.Unseen {
				want = readercheck.Unseen
			}
			if m.Verdict != want {
				t.Errorf("rule %d (%s) is %s: %s %v %v", m.Number, m.Title, m.Verdict, m.Text, m.Rule, m.Broken)
			}
		}
		if r.Probes != len(probes.Probes("")) {
			t.Errorf("%d of %d probes were requested", r.Probes, len(probes.Probes("")))
		}
	})
}

// serve serves the probes on the simulated internet.
func serve(t *testing.T, internet *nettest.Internet, probes *readercheck.Server) (stop func()) {
	l, err := internet.Listen("probe.example:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: probes, ConnContext: probes.ConnContext, ReadHeaderTimeout: time.Minute}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(l) }) // runs until the server is closed
	return func() {
		_ = server.Close() // ignore errors: all readers have stopped
		group.Wait()
	}
}

// restart is the downtime of a restart. It exceeds the minimum interval between two checks of one
// host, which a restarted reader does not know.
const restart = 30 * time.Second

// read runs the reader for a while. Each call starts it again, as after a restart of the machine.
func read(t *testing.T, internet *nettest.Internet, dir string, probes *readercheck.Server, first bool, during time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	st, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	client := fetch.New(fetch.Options{Dial: internet.Dial, Guard: &fetch.Guard{}})
	defer client.CloseIdle()
	r := &river.River{
		Store: st, Fetch: client, Key: make([]byte, 32), Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Agent: func(n int64) string {
			return fmt.Sprintf("Cloudburst/0 (+https://cloudburst.example/; %d subscribers)", n)
		},
	}
	if first {
		follow(t, st, probes.Probes("http://probe.example"))
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	<-time.After(during - restart)
	cancel()
	group.Wait()
	<-time.After(restart)
}

func follow(t *testing.T, st *sqlite.Store, urls []string) {
	now := time.Now().UTC()
	var list []river.Addition
	for _, u := range urls {
		id := river.SourceID(u)
		list = append(list, river.Addition{
			Subscription: river.Subscription{SourceID: id, AddedAt: now},
			Source:       river.Source{ID: id, URL: u, State: polling.New(u, now), NextAt: now, CreatedAt: now},
		})
	}
	if _, err := st.RiverSubscribe(t.Context(), list, now, len(list)); err != nil {
		t.Fatal(err)
	}
}
