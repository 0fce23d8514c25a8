package compare_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/lab/compare"
)

// TestMain lets the test binary replace the programs that Run starts. It acts as a hub and as a
// reader, with only the endpoints that Run calls.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-addr" {
		serve(os.Args[2], http.HandlerFunc((&fakeReader{tags: map[string]string{}}).ServeHTTP))
	}
	if port := os.Getenv("PORT"); port != "" && os.Getenv("WEBSUB_FETCH_ALLOW_CIDRS") != "" {
		serve("127.0.0.1:"+port, &fakeHub{})
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve(os.Args[3], &fakeHub{})
	}
	os.Exit(m.Run())
}

func serve(addr string, h http.Handler) {
	server := &http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: time.Minute}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// fakeHub stores callbacks. It notifies the callbacks before it answers a ping.
type fakeHub struct {
	mu        sync.Mutex
	callbacks []string
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch r.URL.Path {
	case "/pleaseNotify":
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		h.callbacks = append(h.callbacks, "http://"+net.JoinHostPort(host, r.FormValue("port"))+r.FormValue("path"))
	case "/ping":
		for _, u := range h.callbacks {
			res, err := http.Post(u, "application/x-www-form-urlencoded", strings.NewReader("url="+r.FormValue("url")))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			res.Body.Close()
		}
	}
	fmt.Fprint(w, `<result success="true" msg="Thanks."/>`)
}

// fakeReader reads feeds and counts their items. It counts the items of a feed only when the feed
// has changed.
type fakeReader struct {
	mu    sync.Mutex
	feeds []string
	tags  map[string]string
	items int
}

func (f *fakeReader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r.URL.Path {
	case "/opml/import":
		file, _, err := r.FormFile("opml")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var doc struct {
			Outlines []struct {
				URL string `xml:"xmlUrl,attr"`
			} `xml:"body>outline"`
		}
		if err := xml.NewDecoder(file).Decode(&doc); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, o := range doc.Outlines {
			f.feeds = append(f.feeds, o.URL)
		}
		f.read(3)
	case "/api/feeds/refresh":
		f.read(1)
	case "/api/status":
		_ = json.NewEncoder(w).Encode(map[string]any{"running": 0, "stats": []map[string]int{{"unread": f.items}}})
	}
}

// read reads all feeds. It counts fresh new items for each feed that has changed.
func (f *fakeReader) read(fresh int) {
	for _, u := range f.feeds {
		req, _ := http.NewRequest(http.MethodGet, u, nil)
		req.Header.Set("If-None-Match", f.tags[u])
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			f.tags[u], f.items = res.Header.Get("ETag"), f.items+fresh
		}
	}
}

func options(t *testing.T) compare.Options {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return compare.Options{Exe: exe, Subscribers: 5, Pings: 2, Feeds: 4, Items: 3, Size: 1000, Rounds: 2, Progress: io.Discard}
}

func TestHubsAreComparedWithTheSameWorkInTurn(t *testing.T) {
	o := options(t)
	o.RSSCloudServer = o.Exe
	var progress strings.Builder
	o.Progress = &progress
	report, err := o.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Comparisons) != 1 || report.Comparisons[0].Program != "rsscloud-server" {
		t.Fatalf("comparisons: %+v", report.Comparisons)
	}
	for _, r := range report.Comparisons[0].Rows {
		if len(r.Ours) != 2 || len(r.Theirs) != 2 {
			t.Errorf("%s has values of %d and %d rounds, not 2", r.Figure, len(r.Ours), len(r.Theirs))
		}
	}
	if first, last := strings.Index(progress.String(), "round 1 of 2: rsscloud-server"), strings.LastIndex(progress.String(), "round 2 of 2: Cloudburst"); first < 0 || last < first {
		t.Errorf("the programs do not alternate:\n%s", &progress)
	}
}

func TestFeedReaderReadsNewUnchangedAndChangedFeeds(t *testing.T) {
	o := options(t)
	o.Yarr = o.Exe
	figures, err := o.ReadOnce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first reading, all items stored", "all unchanged", "one new item each, all stored"} {
		if figures[name] <= 0 {
			t.Errorf("%s: %v", name, figures)
		}
	}
}

func TestReplayServerReturnsRecordedBytesAndHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.json")
	if err := os.WriteFile(file, []byte(`{"/alice/":{"header":{"Etag":["\"x\""]},"body":"aGVsbG8="}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- compare.ServeConstant(ctx, addr, file) }()
	var res *http.Response
	for res == nil {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
			res, _ = http.Get("http://" + addr + "/alice/")
		}
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(body) != "hello" || res.Header.Get("ETag") != `"x"` {
		t.Errorf("got %q with %v, %v", body, res.Header, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestErrorForInvalidOptionStatesFlagAndLimit(t *testing.T) {
	for _, c := range []struct {
		change func(*compare.Options)
		want   string
	}{
		{func(o *compare.Options) { o.Yarr = "" }, "name at least one of"},
		{func(o *compare.Options) { o.Feeds = 0 }, "invalid value 0 for --feeds: must be from 1 to 5000"},
		{func(o *compare.Options) { o.Miniflux = "x"; o.MinifluxDatabase = "a" }, "names 1 databases for 2 rounds"},
	} {
		o := options(t)
		o.Yarr = o.Exe
		c.change(&o)
		if _, err := o.Run(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

func TestUnexpectedExitOfAProgramIsReportedWithItsOutput(t *testing.T) {
	o := options(t)
	o.RSSCloudServer = "/bin/sh -c exit"
	if _, err := o.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "rsscloud-server ended by itself") {
		t.Errorf("got error %v", err)
	}
}

func TestRatioAboveOneMeansThatCloudburstIsBetter(t *testing.T) {
	r := &compare.Report{Rounds: 1, Comparisons: []compare.Comparison{{Program: "yarr", Rows: []compare.Row{
		compare.NewRow("all unchanged", []float64{100, 300, 200}, []float64{100}),
		compare.NewRow("CPU of an unchanged feed", []float64{100}, []float64{50}),
	}}}}
	var out strings.Builder
	if err := r.Write(&out, false); err != nil {
		t.Fatal(err)
	}
	if got := r.Comparisons[0].Rows; got[0].Ratio != 2 || got[1].Ratio != 0.5 || !strings.Contains(out.String(), "2.00") {
		t.Errorf("ratios %v and %v:\n%s", got[0].Ratio, got[1].Ratio, &out)
	}
}
