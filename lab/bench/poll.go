package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/heap"
	"cloudburst/internal/river"
	"cloudburst/internal/store"
)

// Poll measures the aggregator. It reads many feeds: for the first time, without changes, and
// with one new item each. Then it measures pages over many items, and the time from the
// publication of a post to its display on live pages. Defaults are in brackets.
type Poll struct {
	Common
	Feeds  int // number of feeds [500]
	Size   int // bytes per feed [45,000]
	Items  int // items per feed [20]
	AtOnce int // number of concurrent requests [64]
	Many   int // number of items in the store when pages are measured [100,000]
	Open   int // number of open live pages [5,000]
	Posts  int // number of posts whose time to display is measured [200]
	Passes int // number of times that a round reads the unchanged feeds; a single pass is too short to measure [5]
	Idle   int // number of idle feeds [1,000,000]
	Only   string

	users int // number of other users in the store of pages
}

// These are the parts of the measurement.
const (
	PollReading = "reading"
	PollPages   = "pages"
	PollLive    = "live"
	PollIdle    = "idle"
)

func pollCommand() *cobra.Command {
	var o Poll
	c := &cobra.Command{
		Use:   "poll",
		Short: "Many feeds are read: how fast, and how fast are they on people's screens?",
		Long: `Serves feeds (RSS, Atom, JSON; packed, with ETags) from a process of its own and has the
aggregator read them on a store on disk: for the first time, all unchanged, and all with
one new item. No item may be lost. Each pass is repeated, in turn with a bare loop that
asks for the same documents with the same client and keeps nothing: the ratio to it says
what reading costs beyond the network.

Then a server starts on a folder with many items, and its pages are asked for; live
pages are opened, and posts are saved and followed until they are on a screen. At last
the memory is measured that feeds need which only wait.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1, 5)
	f := c.Flags()
	f.IntVar(&o.Feeds, "feeds", 500, "feeds")
	f.IntVar(&o.Size, "size", 45_000, "bytes of each feed, about")
	f.IntVar(&o.Items, "items", 20, "items of each feed")
	f.IntVar(&o.AtOnce, "at-once", 64, "documents read at once")
	f.IntVar(&o.Many, "many", 100_000, "items below the pages")
	f.IntVar(&o.Open, "open", 5000, "live pages that are open")
	f.IntVar(&o.Posts, "posts", 200, "posts that are followed from the save to the screen")
	f.IntVar(&o.Idle, "idle", 1_000_000, "feeds that only wait")
	f.IntVar(&o.Passes, "passes", 5, "passes over unchanged feeds in each round")
	f.StringVar(&o.Only, "only", "", "reading, pages, live or idle, and nothing else")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func feedsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "feeds", Hidden: true, Short: "The feeds of a measurement", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return ServeFeeds(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}

func (b Poll) Run(ctx context.Context) (*Report, error) {
	b.Feeds, b.Size, b.Items, b.AtOnce = orElse(b.Feeds, 500), orElse(b.Size, 45_000), orElse(b.Items, 20), orElse(b.AtOnce, 64)
	b.Many, b.Open, b.Posts = orElse(b.Many, 100_000), orElse(b.Open, 5000), orElse(b.Posts, 200)
	b.Passes, b.Idle = orElse(b.Passes, 5), orElse(b.Idle, 1_000_000)
	switch b.Only {
	case "", PollReading, PollPages, PollLive, PollIdle:
	default:
		return nil, fmt.Errorf("--only is %q; it must be one of %s, %s, %s, %s", b.Only, PollReading, PollPages, PollLive, PollIdle)
	}
	s, err := openStage("poll", b.Common, Plan{Feeds: 1})
	if err != nil {
		return nil, err
	}
	s.option("feeds", b.Feeds)
	s.option("items", b.Items)
	s.option("size", b.Size)
	s.option("at once", b.AtOnce)
	return s.end(b.run(ctx, s))
}

func (b Poll) run(ctx context.Context, s *stage) error {
	heap.DelayCollector() // as the server does
	parts := []struct {
		name string
		do   func(context.Context, *stage) error
	}{{PollReading, b.reading}, {PollPages, b.pages}, {PollLive, b.live}, {PollIdle, b.idle}}
	for _, p := range parts {
		if b.Only != "" && b.Only != p.name {
			continue
		}
		if err := p.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// pollReader is an aggregator with its store. Its clock can be advanced.
type pollReader struct {
	river *river.River
	store store.Store
	fetch *fetch.Client
	ahead atomic.Int64 // how far the clock is advanced, in nanoseconds
	stop  context.CancelFunc
	done  chan struct{}
}

func (r *pollReader) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

func (b Poll) open(ctx context.Context, s *stage, dir string) (*pollReader, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	st, err := store.Open(ctx, store.Options{Dir: dir, DatabaseURL: s.Database, Log: log})
	if err != nil {
		return nil, err
	}
	r := &pollReader{store: st, done: make(chan struct{})}
	r.fetch = fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: loopback()}, UserAgent: agent, Idle: 2 * b.AtOnce, IdlePerHost: b.AtOnce})
	r.river = &river.River{
		Store: st, Fetch: r.fetch, Now: r.now, Log: log, Key: make([]byte, 32),
		Options: river.Options{AtOnce: b.AtOnce, PerHost: b.AtOnce, HostInterval: -1, OwnHosts: []string{"*"}},
	}
	return r, nil
}

// run starts the aggregator in the background.
func (r *pollReader) run(ctx context.Context) {
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.done)
		_ = r.river.Run(ctx) // Run returns only when ctx ends
	}()
}

func (r *pollReader) close() error {
	if r.stop != nil {
		r.stop()
		<-r.done
	}
	r.fetch.CloseIdle()
	return r.store.Close()
}

// pass advances the clock and waits until the aggregator has read every feed once more. It
// returns the elapsed real time.
func (r *pollReader) pass(ctx context.Context, forward time.Duration, feeds int) (time.Duration, error) {
	want := r.river.Live().Checks + int64(feeds)
	begin := time.Now()
	r.ahead.Add(int64(forward))
	r.river.Wake()
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for {
		if r.river.Live().Checks >= want {
			return time.Since(begin), nil
		}
		if time.Since(begin) > 2*time.Minute {
			return 0, fmt.Errorf("%d of %d feeds were read within two minutes", r.river.Live().Checks-want+int64(feeds), feeds)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
}

// reading measures first reads, reads without changes, and reads with one new item per feed.
func (b Poll) reading(ctx context.Context, s *stage) (err error) {
	feeds, err := startFeeds(s.Exe, s.dir, FeedPlan{Feeds: b.Feeds, Items: b.Items, Size: b.Size})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, feeds.stop(stopWithin)) }()
	var p polled
	for i := range s.Rounds {
		s.progress.Step("reading", i, s.Rounds)
		if err := b.round(ctx, s, feeds, i, &p); err != nil {
			return err
		}
	}
	r := &s.report
	n := float64(b.Feeds)
	r.addMedian("first reading", p.first, "feeds/s").target("≥", 1000).note("%d items stored in each round; Miniflux 44, yarr 165 elsewhere", b.Feeds*b.Items)
	r.addMedian("first reading ÷ bare loop", each(p.first, p.bareFull), "").note("the loop reads and forgets")
	r.addMedian("until all is found by words", p.indexed, "s").note("from the beginning of the first reading")
	r.addMedian("all unchanged", p.unchanged, "feeds/s").target("≥", 10_000).note("Miniflux 450–715, yarr 4,300–4,900 elsewhere")
	r.addMedian("all unchanged ÷ bare loop", each(p.unchanged, p.bareNone), "").note("the loop gets the same 304s")
	r.addMedian("all with one new item", p.changed, "feeds/s").target("≥", 1500).note("Miniflux 37–49, yarr 365–400 elsewhere")
	r.add("items lost", float64(p.lost), "").target("=", 0).note("of %s", thousands(int64(p.items)))
	r.addMedian("process CPU, first reading", p.firstCPU, "µs each").note("of %g feeds; the bare loop %.0f; what became searchable meanwhile included", n, Median(p.bareFullCPU))
	r.addMedian("process CPU, searchable", p.indexCPU, "µs each").note("item")
	r.addMedian("process CPU, unchanged", p.cpu, "µs each").note("the bare loop %.0f", Median(p.bareCPU))
	r.addMedian("process CPU, one new item", p.changedCPU, "µs each").note("what became searchable meanwhile included")
	return nil
}

// polled contains the measurements of all rounds.
type polled struct {
	first, unchanged, changed, indexed  []float64
	bareFull, bareNone                  []float64
	firstCPU, indexCPU, cpu, changedCPU []float64
	bareFullCPU, bareCPU                []float64
	lost, items                         int64
}

func (b Poll) round(ctx context.Context, s *stage, feeds *feedProcess, i int, p *polled) (err error) {
	dir := filepath.Join(s.dir, fmt.Sprintf("reader%d", i))
	r, err := b.open(ctx, s, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(), os.RemoveAll(dir)) }()
	if err := b.follow(ctx, r, feeds); err != nil {
		return err
	}
	n := float64(b.Feeds)
	begin := time.Now()
	r.run(ctx)
	took, err := s.busy("first", i, &p.firstCPU, n, func() (time.Duration, error) { return r.pass(ctx, 0, b.Feeds) })
	if err != nil {
		return err
	}
	p.first = append(p.first, n/took.Seconds())
	if _, err := s.busy("index", i, &p.indexCPU, n*float64(b.Items), func() (time.Duration, error) { return 0, r.indexed(ctx) }); err != nil {
		return err
	}
	p.indexed = append(p.indexed, time.Since(begin).Seconds())
	whole, err := s.busy("unchanged", i, &p.cpu, n*float64(b.Passes), func() (time.Duration, error) { return b.unchanged(ctx, r) })
	if err != nil {
		return err
	}
	p.unchanged = append(p.unchanged, float64(b.Passes)*n/whole.Seconds())
	if c, err := feeds.counts(); err != nil || c.Full != int64(b.Feeds) || c.Unchanged != int64(b.Feeds*b.Passes) {
		return fmt.Errorf("the feeds were asked for %+v, %w", c, err)
	}
	if err := feeds.call("add", nil, nil); err != nil {
		return err
	}
	took, err = s.busy("changed", i, &p.changedCPU, n, func() (time.Duration, error) { return r.pass(ctx, 49*time.Hour, b.Feeds) })
	if err != nil {
		return err
	}
	p.changed = append(p.changed, n/took.Seconds())
	counts, err := r.store.CountSources(ctx, r.now())
	if err != nil {
		return err
	}
	want := int64(b.Feeds * (b.Items + 1))
	p.items += want
	p.lost += want - counts.Items
	return b.bare(ctx, r, feeds, p)
}

// busy calls do and records the CPU time per unit in microseconds; n is the number of units. In
// the first round, it writes a CPU profile next to the requested profile.
func (s *stage) busy(part string, round int, each *[]float64, n float64, do func() (time.Duration, error)) (took time.Duration, err error) {
	if s.Profile != "" && round == 0 {
		f, err := os.Create(s.Profile + "." + part)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return 0, err
		}
		defer pprof.StopCPUProfile()
	}
	cpu := processCPU()
	took, err = do()
	*each = append(*each, float64((processCPU()-cpu).Microseconds())/n)
	return took, err
}

// unchanged reads all unchanged feeds Passes times, and returns the total elapsed time.
func (b Poll) unchanged(ctx context.Context, r *pollReader) (whole time.Duration, err error) {
	for range b.Passes {
		took, err := r.pass(ctx, 49*time.Hour, b.Feeds)
		if err != nil {
			return 0, err
		}
		whole += took
	}
	return whole, nil
}

// follow adds all feeds to the aggregator.
func (b Poll) follow(ctx context.Context, r *pollReader, feeds *feedProcess) error {
	list := make([]river.Addition, b.Feeds)
	now := r.now()
	for i := range list {
		u := feeds.url(i)
		id := river.SourceID(u)
		list[i] = river.Addition{
			Subscription: river.Subscription{SourceID: id, AddedAt: now},
			Source:       river.Source{ID: id, URL: u, State: polling.New(u, now), NextAt: now, CreatedAt: now},
		}
	}
	_, err := r.store.RiverSubscribe(ctx, list, now, len(list))
	return err
}

const foundWithin = 5 * time.Minute

// indexed waits until the full-text index contains all received items.
func (r *pollReader) indexed(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < foundWithin; {
		n, err := r.store.IndexItems(ctx, 1) // IndexItems returns 0 if the index is complete
		if err != nil {
			return err
		}
		if n == 0 {
			list, err := r.river.Items(ctx, river.ItemQuery{Match: "item", Oldest: true, Limit: 1})
			if err == nil && len(list) == 0 {
				err = errors.New("what is searchable cannot be found")
			}
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return errors.New("what came cannot be found by its words after five minutes")
}

// bare measures the baseline, which requests the same documents and stores nothing.
func (b Poll) bare(ctx context.Context, r *pollReader, feeds *feedProcess, p *polled) error {
	tags := make([]string, b.Feeds)
	run := func(conditional bool) (float64, error) {
		var next atomic.Int64
		var failed atomic.Pointer[error]
		var group sync.WaitGroup
		begin := time.Now()
		for range b.AtOnce {
			group.Go(func() {
				for i := int(next.Add(1)) - 1; i < b.Feeds; i = int(next.Add(1)) - 1 {
					q := fetch.Request{URL: feeds.url(i), Accept: "*/*"}
					if conditional {
						q.ETag = tags[i]
					}
					got, err := r.fetch.Get(ctx, q)
					if err == nil && (got.Status == http.StatusNotModified) != conditional {
						err = fmt.Errorf("status %d", got.Status)
					}
					if err != nil {
						failed.Store(&err)
						return
					}
					if !conditional {
						tags[i] = got.Header.Get("ETag")
					}
				}
			})
		}
		group.Wait()
		if err := failed.Load(); err != nil {
			return 0, *err
		}
		return float64(b.Feeds) / time.Since(begin).Seconds(), nil
	}
	cpu := processCPU()
	full, err := run(false)
	if err != nil {
		return err
	}
	p.bareFullCPU = append(p.bareFullCPU, float64((processCPU()-cpu).Microseconds())/float64(b.Feeds))
	cpu = processCPU()
	total := 0.0
	for range b.Passes {
		none, err := run(true)
		if err != nil {
			return err
		}
		total += 1 / none
	}
	p.bareCPU = append(p.bareCPU, float64((processCPU()-cpu).Microseconds())/float64(b.Feeds*b.Passes))
	p.bareFull, p.bareNone = append(p.bareFull, full), append(p.bareNone, float64(b.Passes)/total)
	_, err = feeds.counts() // counts also resets the counts
	runtime.GC()
	return err
}
