package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/client"
	"cloudburst/lab/bench"
)

// PageOptions are the options for the measurement of author pages.
type PageOptions struct {
	Exe      string    // path of an executable that runs this server for "serve", and ServeConstant for "bench constant"
	Posts    int       // number of the author's posts
	Saves    int       // number of posts that are saved one by one; the page must show each post immediately
	Requests int       // number of requests for one page in each round
	Rounds   int       // number of rounds that run the programs in turn; the table shows medians
	Progress io.Writer // receives one line for each measured value
}

const (
	pageReaders = 32 // number of persistent connections
	pageTarget  = 0.8
	constantly  = "constant handler"
)

// recorded is a response that [ServeConstant] repeats.
type recorded struct {
	Header http.Header `json:"header"`
	Body   []byte      `json:"body"`
}

// ServeConstant serves the recorded responses in file on addr. It answers each request for a path
// with the same bytes and headers.
func ServeConstant(ctx context.Context, addr, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var pages map[string]recorded
	if err := json.Unmarshal(text, &pages); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	server := &http.Server{Addr: addr, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := pages[r.URL.Path]
		for name, values := range p.Header {
			w.Header()[name] = values
		}
		_, _ = w.Write(p.Body) // the client may have disconnected
	})}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Run compares the server with a process that only writes the same bytes and headers. The
// requests are for the page of an author and for the page of a post, as an anonymous visitor
// requests them.
func (o PageOptions) Run(ctx context.Context) (*Report, error) {
	err := checkLimits([]limit{{"posts", o.Posts, 1, 10_000}, {"saves", o.Saves, 0, 10_000}, {"requests", o.Requests, 100, 10_000_000}, {"rounds", o.Rounds, 1, 100}})
	if err != nil {
		return nil, err
	}
	report := &Report{At: time.Now().UTC(), Machine: bench.ThisMachine(), Rounds: o.Rounds}
	err = inFolder(func(dir string) error {
		port, err := freePort(ctx)
		if err != nil {
			return err
		}
		server, err := Options{Exe: o.Exe}.cloudburst(ctx, dir, "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		defer server.stop()
		api := &client.Client{Base: "http://127.0.0.1:" + port}
		paths, err := o.write(ctx, api)
		if err != nil {
			return err
		}
		floor, err := o.constant(ctx, dir, server, paths)
		if err != nil {
			return err
		}
		defer floor.stop()
		rows, err := o.measure(ctx, server, floor, paths)
		if err != nil {
			return err
		}
		report.Comparisons = []Comparison{{constantly, rows}}
		return o.fresh(ctx, api, server, paths[0])
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// write creates an author with posts. It returns the path of the author's page and the path of a
// post.
func (o PageOptions) write(ctx context.Context, api *client.Client) ([]string, error) {
	if _, err := api.AddUser(ctx, "alice", "four unrelated words"); err != nil {
		return nil, err
	}
	var path string
	for i := range o.Posts {
		text := fmt.Sprintf("Post number %d, with the few words that a short post has.", i)
		p, err := api.CreatePost(ctx, "alice", client.PostChange{Source: &text}, "")
		if err != nil {
			return nil, err
		}
		path = p.URL
	}
	_, path, _ = strings.Cut(strings.TrimPrefix(path, "http://"), "/")
	return []string{"/alice/", "/" + path}, nil
}

// get requests a page with gzip compression and returns the response.
func get(ctx context.Context, by *http.Client, url string) (recorded, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return recorded{}, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := by.Do(req)
	if err != nil {
		return recorded{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, res.Status)
	}
	return recorded{res.Header, body}, err
}

// constant records the server's pages, and starts a process that serves the recorded pages.
func (o PageOptions) constant(ctx context.Context, dir string, server *program, paths []string) (*program, error) {
	pages := map[string]recorded{}
	for _, path := range paths {
		p, err := get(ctx, http.DefaultClient, server.base+path)
		if err != nil {
			return nil, err
		}
		p.Header.Del("Date")
		pages[path] = p
	}
	text, err := json.Marshal(pages)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, "constant")
	file := filepath.Join(own, "pages.json")
	if err := errors.Join(os.Mkdir(own, 0o700), os.WriteFile(file, text, 0o600)); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	return launch(ctx, constantly, own, "http://127.0.0.1:"+port, nil, o.Exe, "bench", "constant", "127.0.0.1:"+port, file)
}

// measure requests each page from both programs alternately. It does not count the first round.
func (o PageOptions) measure(ctx context.Context, server, floor *program, paths []string) ([]Row, error) {
	var rows []Row
	for i, path := range paths {
		name := []string{"page of an author", "page of a post"}[i]
		rate, cpu := Row{Figure: name, Unit: "/s", Target: pageTarget}, Row{Figure: "CPU of one request, " + name, Unit: "µs", Target: pageTarget}
		for n := range o.Rounds + 1 {
			for _, p := range []*program{server, floor} {
				perSecond, used, err := o.requests(ctx, p, path)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", p.name, err)
				}
				if n == 0 {
					continue
				}
				fmt.Fprintf(o.Progress, "round %d of %d: %s: %s: %s /s, %s µs of CPU\n", n, o.Rounds, p.name, name, number(perSecond), number(used))
				if p == server {
					rate.Ours, cpu.Ours = append(rate.Ours, perSecond), append(cpu.Ours, used)
				} else {
					rate.Theirs, cpu.Theirs = append(rate.Theirs, perSecond), append(cpu.Theirs, used)
				}
			}
		}
		rate.compare()
		cpu.compare()
		rows = append(rows, rate, cpu)
	}
	return rows, nil
}

// requests sends o.Requests requests for a page. It returns the number of requests per second,
// and the CPU time per request in microseconds.
func (o PageOptions) requests(ctx context.Context, p *program, path string) (perSecond, cpu float64, err error) {
	by := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: pageReaders, DisableCompression: true}}
	defer by.CloseIdleConnections()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	before, begun := p.cpu(), time.Now()
	for range pageReaders {
		group.Go(func() {
			for next.Add(1) <= int64(o.Requests) && failed.Load() == nil {
				if _, err := get(ctx, by, p.base+path); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	n := float64(o.Requests)
	return n / time.Since(begun).Seconds(), float64((p.cpu() - before).Microseconds()) / n, nil
}

// fresh saves posts one by one. It fails unless the next response shows each post.
func (o PageOptions) fresh(ctx context.Context, api *client.Client, server *program, path string) error {
	for i := range o.Saves {
		text := fmt.Sprintf("Saved as number %d.", i)
		if _, err := api.CreatePost(ctx, "alice", client.PostChange{Source: &text}, ""); err != nil {
			return err
		}
		page, err := request(ctx, http.DefaultClient, http.MethodGet, server.base+path, "", nil)
		if err != nil {
			return err
		}
		if !strings.Contains(string(page), text) {
			return fmt.Errorf("the page does not show post %d of %d right after it was saved", i+1, o.Saves)
		}
	}
	fmt.Fprintf(o.Progress, "%d posts, each on the page right after its save\n", o.Saves)
	return nil
}
