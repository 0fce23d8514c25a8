package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
)

// River measures the pages of a river with many feeds and items. Defaults are in brackets.
type River struct {
	Common
	Feeds int // number of feeds [500]
	Items int // total number of items of all feeds [100,000]
	Users int // number of other users; each follows a tenth of the feeds
	Pages int // number of requests for each page [200]
	Pings int // number of pings whose item must appear on the open page [30]
}

// These limits are in milliseconds.
const (
	riverPageP50   = 5
	riverPageP99   = 20
	riverMarkAll   = 200
	riverWriterMax = 20
	riverPingP50   = 25
)

func riverCommand() *cobra.Command {
	var o River
	c := &cobra.Command{
		Use:   "river",
		Short: "A user follows many feeds: how fast are the pages, the marks and the live river?",
		Long: `Fills a store with items of many feeds that one user follows, starts a server on it, and
requests the river as that user, with unread counts. Then all items are marked read, and
the mark is undone, while another request marks one item after the other: the longest of
its waits shows how long the writer was blocked. Finally a feed that the user follows is
pinged, and the time until its item is on the open page is measured.

Each figure has its limit, and its ratio to the limit.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1, 5)
	f := c.Flags()
	f.IntVar(&o.Feeds, "feeds", 500, "feeds that the user follows")
	f.IntVar(&o.Items, "items", 100_000, "items of all feeds together")
	f.IntVar(&o.Users, "users", 0, "other users; each follows a tenth of the feeds")
	f.IntVar(&o.Pages, "pages", 200, "requests of each page")
	f.IntVar(&o.Pings, "pings", 30, "pings that are followed to the open page")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func (b River) Run(ctx context.Context) (*Report, error) {
	b.Feeds, b.Items, b.Pages, b.Pings = orElse(b.Feeds, 500), orElse(b.Items, 100_000), orElse(b.Pages, 200), orElse(b.Pings, 30)
	if b.Feeds < 1 || b.Items < b.Feeds || b.Pages < 1 || b.Pings < 1 {
		return nil, errors.New("river needs a feed, an item in each feed, a page and a ping")
	}
	s, err := openStage("river", b.Common, Plan{Feeds: 1})
	if err != nil {
		return nil, err
	}
	s.option("feeds", b.Feeds)
	s.option("items", b.Items)
	s.option("users", b.Users)
	return s.end(b.run(ctx, s))
}

func (b River) run(ctx context.Context, s *stage) error {
	if err := (Poll{Many: b.Items, users: b.Users}).fill(ctx, s, filepath.Join(s.dir, "data"), b.Feeds); err != nil {
		return err
	}
	s.ServerFlags = append([]string{"--river.host-interval", "0"}, s.ServerFlags...)
	if err := s.serve(ctx); err != nil {
		return err
	}
	if _, err := s.server.api.AddUser(ctx, "ann", writePassword); err != nil {
		return err
	}
	cookie, err := signIn(ctx, s.server.listen, "ann", writePassword)
	if err != nil {
		return err
	}
	u := &riverUser{base: "http://" + s.server.listen, cookie: cookie + "; river=counts", web: &http.Client{Timeout: time.Minute, Transport: &http.Transport{Protocols: onlyHTTP1()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if err := s.server.rest(ctx); err != nil {
		return err
	}
	if s.Profile != "" {
		profiled := s.server.profile(ctx, s.Profile, 4)
		defer func() { _ = profiled() }()
	}
	if err := b.pages(ctx, s, u); err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	if err := b.marks(ctx, s, u); err != nil {
		return fmt.Errorf("marks: %w", err)
	}
	if err := b.pings(ctx, s, u); err != nil {
		return fmt.Errorf("pings: %w", err)
	}
	return nil
}

// rest waits until the server has finished its work after a start, that is, until it uses almost
// no CPU time for three seconds.
func (s *server) rest(ctx context.Context) error {
	quiet := 0
	for range 120 {
		before := s.usage().cpu
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		if quiet++; s.usage().cpu-before > 20*time.Millisecond {
			quiet = 0
		}
		if quiet == 3 {
			return nil
		}
	}
	return errors.New("the server is still busy two minutes after its start")
}

// riverUser is a signed-in user who requests pages.
type riverUser struct {
	base, cookie string
	web          *http.Client
}

// do sends a GET request, or a POST request if form is not nil. It reads the whole response and
// returns the elapsed time.
func (u *riverUser) do(ctx context.Context, path string, form url.Values) (body []byte, took time.Duration, err error) {
	method, text := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, text = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, u.base+path, text)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Cookie", u.cookie)
	req.Header.Set("Accept-Encoding", "identity")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/plain")
		req.Header.Set("Origin", u.base)
	}
	begin := time.Now()
	resp, err := u.web.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s was answered %s: %.200s", method, path, resp.Status, body)
	}
	return body, time.Since(begin), err
}

// limited adds a figure in milliseconds to the report, with its limit as the target.
func (s *stage) limited(name string, value, limit float64) {
	s.report.add(name, value, "ms").note("%.2f of the limit", value/limit).target("≤", limit)
}

// pages measures the time from the request for a page to its last byte.
func (b River) pages(ctx context.Context, s *stage, u *riverUser) error {
	var floor float64
	for _, p := range []struct{ name, path string }{
		{"request without a page", "/login"}, {"river", "/river"}, {"unread items", "/river?unread=1"}, {"category", "/river?category=garden"},
	} {
		var all []float64
		var cpu time.Duration
		for i := range b.Pages + 5 { // skip the first requests, which fill caches
			if i == 5 {
				cpu = s.server.usage().cpu
			}
			_, took, err := u.do(ctx, p.path, nil)
			if err != nil && p.path != "/login" { // skip an error of /login, which redirects signed-in users
				return err
			}
			if s.progress.Step(p.name, i, b.Pages); i >= 5 {
				all = append(all, took.Seconds()*1e3)
			}
		}
		if floor == 0 {
			floor = Median(all)
			s.report.add(p.name+", p50", floor, "ms").note("a redirect: session and HTTP only")
			continue
		}
		s.limited(p.name+", p50", Median(all), riverPageP50)
		s.limited(p.name+", p99", quantile(all, 0.99), riverPageP99)
		s.report.add(p.name+", server CPU", (s.server.usage().cpu-cpu).Seconds()*1e3/float64(b.Pages), "ms each").note("a busy machine does not change it")
	}
	return nil
}

// marks measures the time to mark all items as read, and to undo this. At the same time, other
// requests repeatedly mark one item.
func (b River) marks(ctx context.Context, s *stage, u *riverUser) error {
	page, _, err := u.do(ctx, "/river", nil)
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`id="i(\d+)"`).FindSubmatch(page)
	if found == nil {
		return errors.New("the river has no item")
	}
	var all, undone, waits, alone []float64
	for n := range s.Rounds {
		s.progress.Step("mark all", n, s.Rounds)
		to := url.Values{"to": {fmt.Sprint(time.Now().UnixMilli())}}
		for _, step := range []struct {
			path string
			took *[]float64
			wait *[]float64
		}{{"", nil, &alone}, {"/river/read", &all, &waits}, {"/river/read/undo", &undone, &waits}} {
			stop := u.probe(ctx, string(found[1]))
			if step.path == "" {
				err = pause(ctx, 300*time.Millisecond)
			} else {
				var took time.Duration
				_, took, err = u.do(ctx, step.path, to)
				*step.took = append(*step.took, took.Seconds()*1e3)
			}
			some, failed := stop()
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			*step.wait = append(*step.wait, some...)
		}
	}
	usual := Median(alone)
	s.limited(fmt.Sprintf("mark all of %s read, median", thousands(int64(b.Items))), Median(all), riverMarkAll)
	s.limited("undo it, median", Median(undone), riverMarkAll)
	s.limited("longest wait of another write", max(0, slices.Max(waits)-usual), riverWriterMax)
	s.report.add("that write alone, p50", usual, "ms").note("longest %.1f ms", slices.Max(alone))
	return nil
}

// probe marks an item repeatedly until the caller calls stop, which returns the durations.
func (u *riverUser) probe(ctx context.Context, item string) (stop func() ([]float64, error)) {
	var over atomic.Bool
	var all []float64
	var failed error
	done, begun := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; !over.Load(); n++ {
			_, took, err := u.do(ctx, "/river/mark", url.Values{[]string{"star", "unstar"}[n%2]: {item}})
			if failed = err; err != nil {
				over.Store(true)
			}
			if all = append(all, took.Seconds()*1e3); n == 0 {
				close(begun)
			}
		}
	}()
	<-begun
	return func() ([]float64, error) {
		over.Store(true)
		<-done
		return all[1:], failed
	}
}

// pings measures the time from a ping until the item appears on the open page.
func (b River) pings(ctx context.Context, s *stage, u *riverUser) error {
	var posts atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	feed := "http://" + l.Addr().String() + "/feed.xml"
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, `<?xml version="1.0"?><rss version="2.0"><channel><title>Pinged</title><link>http://127.0.0.1/</link><description>x</description>`)
		for i := posts.Load(); i >= max(0, posts.Load()-20); i-- {
			fmt.Fprintf(w, `<item><title>pinged-post-%d.</title><guid isPermaLink="false">p%d</guid></item>`, i, i)
		}
		fmt.Fprint(w, `</channel></rss>`)
	})}
	go func() { _ = web.Serve(l) }() // returns after Close
	defer web.Close()
	if _, err := s.server.api.River("").AddSource(ctx, client.SourceRequest{URL: feed}); err != nil {
		return err
	}
	page, err := openLive(ctx, s.server.listen, u.cookie, 0)
	if err != nil {
		return err
	}
	defer page.Close()
	p := newPinger(s.server.listen, 1)
	var all []float64
	for i := range b.Pings + 1 {
		s.progress.Step("pings", i, b.Pings)
		if err := pause(ctx, 1200*time.Millisecond); err != nil { // the aggregator reads a feed at most once per second
			return err
		}
		n := posts.Add(1)
		begin := time.Now()
		failed := make(chan error, 1)
		go func() { failed <- p.ping(ctx, feed) }()
		at, err := page.until(fmt.Sprintf("pinged-post-%d.", n), screenWait)
		if err = errors.Join(err, <-failed); err != nil {
			return err
		}
		if i > 0 {
			all = append(all, at.Sub(begin).Seconds()*1e3)
		}
	}
	s.limited("ping → item on the open page, p50", Median(all), riverPingP50)
	s.report.add("ping → item on the open page, p99", quantile(all, 0.99), "ms")
	return nil
}
