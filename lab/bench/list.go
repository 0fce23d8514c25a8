package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// baseline is a minimal server to compare the recent changes with. It serves the same bytes with
// http.ServeContent, and accepts every ping but does not process the ping.
type baseline struct {
	addr   string
	server *http.Server
}

// openBaseline serves copies of the response at url, both uncompressed and compressed.
func openBaseline(ctx context.Context, url string) (*baseline, error) {
	plain, _, err := fetchAs(ctx, url, "identity")
	if err != nil {
		return nil, err
	}
	packed, tag, err := fetchAs(ctx, url, "gzip")
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	modified, length := time.Now(), strconv.Itoa(len(packed))
	s := &baseline{addr: l.Addr().String(), server: &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", "text/xml; charset=utf-8")
			if r.Method == http.MethodPost {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, yes)
				return
			}
			h.Set("Cache-Control", "public, max-age=60")
			h.Set("Vary", "Accept-Encoding")
			h.Set("ETag", tag)
			body := plain
			if r.Header.Get("Accept-Encoding") == "gzip" {
				h.Set("Content-Encoding", "gzip")
				h.Set("Content-Length", length) // ServeContent does not set Content-Length for encoded content
				body = packed
			}
			http.ServeContent(w, r, "", modified, bytes.NewReader(body))
		})}}
	go func() { _ = s.server.Serve(l) }() // returns after close
	return s, nil
}

// yes is the response to an accepted ping.
const yes = `<?xml version="1.0"?><methodResponse><params><param><value><struct><member><name>flerror</name><value><boolean>0</boolean></value></member>` +
	`<member><name>message</name><value>Thanks for the ping.</value></member></struct></value></param></params></methodResponse>`

func (s *baseline) close() { _ = s.server.Close() }

func fetchAs(ctx context.Context, url, coding string) (body []byte, tag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept-Encoding", coding)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return body, resp.Header.Get("ETag"), err
}

// read requests the recent changes at addr repeatedly, and returns the number of responses per
// second. It fails if a response does not have the given status.
func (b Changes) read(ctx context.Context, addr string, request []byte, status int) (float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var done atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	end := begin.Add(b.Reading)
	for range b.Readers {
		group.Go(func() {
			w := newWire(addr)
			defer w.close()
			for time.Now().Before(end) && ctx.Err() == nil {
				got, _, err := w.do(ctx, request, 0)
				if err == nil && got != status {
					err = fmt.Errorf("the list was answered with %d, not %d", got, status)
				}
				if err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds(), context.Cause(ctx)
}

// lists requests the recent changes from the server and from the baseline in turn. The first
// rounds run on an idle server, the others while the server receives pings.
func (b Changes) lists(ctx context.Context, s *stage, sites *sites) error {
	url := "http://" + s.server.listen + "/changes.xml"
	baselineAddr, err := b.baseline(s)
	if err != nil {
		return err
	}
	for _, coding := range []string{"identity", "gzip"} {
		body, _, err := fetchAs(ctx, url, coding)
		if err != nil {
			return err
		}
		s.report.add("list, "+coding, float64(len(body))/1024, "KiB")
	}
	for _, busy := range []bool{false, true} {
		for _, kind := range []string{"plain", "gzip", "304"} {
			if err := b.versus(ctx, s, sites, baselineAddr, kind, busy); err != nil {
				return fmt.Errorf("read the list (%s): %w", kind, err)
			}
		}
	}
	return nil
}

// baseline starts a baseline with a copy of the current recent changes, and returns its address.
func (b Changes) baseline(s *stage) (addr string, err error) {
	l, err := s.loop("baseline")
	if err == nil {
		err = l.call("baseline", "http://"+s.server.listen+"/changes.xml", &addr)
	}
	return addr, err
}

// versus compares the server with the baseline for one kind of response.
func (b Changes) versus(ctx context.Context, s *stage, sites *sites, baselineAddr, kind string, busy bool) error {
	var ours, theirs, ourCPU, theirCPU, p99 []float64
	one := func(addr string, who *process, rates, cpus *[]float64) error {
		request, status, err := b.request(ctx, addr, kind)
		if err != nil {
			return err
		}
		stop := func() (pace, error) { return pace{}, nil }
		if busy {
			stop = b.alongside(ctx, sites)
		}
		cpu := who.usage().cpu
		rate, err := b.read(ctx, addr, request, status)
		*rates = append(*rates, rate)
		*cpus = append(*cpus, float64((who.usage().cpu-cpu).Microseconds())/max(1, rate*b.Reading.Seconds()))
		p, perr := stop()
		if addr != baselineAddr {
			p99 = append(p99, p.p99*1e3)
		}
		if err == nil {
			err = perr
		}
		return err
	}
	l, err := s.loop("baseline")
	if err != nil {
		return err
	}
	for i := range s.Rounds {
		s.progress.Step("list, "+kind, i, s.Rounds)
		if err := one(s.server.listen, s.server.process, &ours, &ourCPU); err != nil {
			return err
		}
		if err := one(baselineAddr, l.process, &theirs, &theirCPU); err != nil {
			return err
		}
	}
	name := "list, " + kind
	if busy {
		name += fmt.Sprintf(", with %d pings/s", b.Rate)
	}
	r := &s.report
	r.addMedian(name, ours, "1/s")
	r.addMedian(name+": ratio to ServeContent", each(ours, theirs), "×").target("≥", 0.5)
	if busy {
		r.addMedian(name+": ping → answer, p99", p99, "ms").note("the readers leave no CPU idle")
		return nil
	}
	r.addMedian(name+": server CPU", ourCPU, "µs each")
	r.addMedian(name+": CPU ratio", each(theirCPU, ourCPU), "×").note("ServeContent ÷ server")
	return nil
}

// request returns the HTTP request for a kind of response, and the expected status.
func (b Changes) request(ctx context.Context, addr, kind string) ([]byte, int, error) {
	switch kind {
	case "gzip":
		return get(addr, "/changes.xml", "Accept-Encoding", "gzip"), http.StatusOK, nil
	case "304":
		// "*" matches any entity tag, because the server may rebuild the list.
		return get(addr, "/changes.xml", "If-None-Match", "*"), http.StatusNotModified, nil
	}
	return get(addr, "/changes.xml"), http.StatusOK, ctx.Err()
}

// alongside sends pings at the steady rate until the caller calls stop.
func (b Changes) alongside(ctx context.Context, sites *sites) (stop func() (pace, error)) {
	type result struct {
		pace
		error
	}
	done := make(chan result, 1)
	go func() {
		p, err := sites.at(ctx, float64(b.Rate), max(1, int(float64(b.Rate)*b.Reading.Seconds())))
		done <- result{p, err}
	}()
	return func() (pace, error) {
		r := <-done
		return r.pace, r.error
	}
}
