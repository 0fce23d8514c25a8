package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/protocol/rsscloud"
)

// endpoint is the baseline for pings to the server. It has the same kind of endpoint, fetches the
// feed and sends the notification in the same way, but its only state is a map. It has no store,
// limits or log.
type endpoint struct {
	addr string

	plan   endpointPlan
	client *fetch.Client
	sender *fetch.Sender
	server *http.Server
	mu     sync.Mutex
	known  map[string]knownFeed
}

type endpointPlan struct {
	Hosts int    `json:"hosts"`
	Port  uint16 `json:"port"`
}

type knownFeed struct {
	etag, modified string
	hash           [sha256.Size]byte
}

func openEndpoint(ctx context.Context, p endpointPlan, s *fetch.Sender) (*endpoint, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &endpoint{
		addr: l.Addr().String(), plan: p, sender: s, known: map[string]knownFeed{},
		client: fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: loopback()}, UserAgent: agent}),
	}
	d.server = &http.Server{Handler: http.HandlerFunc(d.ping), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = d.server.Serve(l) }() // returns after Close
	return d, nil
}

func (d *endpoint) close() { _ = d.server.Close() }

func (d *endpoint) ping(w http.ResponseWriter, r *http.Request) {
	feed := r.PostFormValue("url")
	changed, err := d.check(r.Context(), feed)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"success":true,"msg":"Thanks for the ping."}`)) // the client may have disconnected
	if changed {
		go d.notify(feed)
	}
}

func (d *endpoint) check(ctx context.Context, feed string) (bool, error) {
	d.mu.Lock()
	k := d.known[feed]
	d.mu.Unlock()
	got, err := d.client.Get(ctx, fetch.Request{URL: feed, ETag: k.etag, LastModified: k.modified})
	if err != nil {
		return false, err
	}
	if got.NotModified {
		return false, nil
	}
	hash := sha256.Sum256(got.Body)
	d.mu.Lock()
	d.known[feed] = knownFeed{got.Header.Get("ETag"), got.Header.Get("Last-Modified"), hash}
	d.mu.Unlock()
	return hash != k.hash, nil
}

// notify sends the notification for feed /f/N to its only subscriber, /c/N.
func (d *endpoint) notify(feed string) {
	i, err := strconv.Atoi(feed[strings.LastIndexByte(feed, '/')+1:])
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	// The receiver counts the notifications, so a failed notification is missing from its count.
	_ = d.sender.Send(ctx, &fetch.Message{
		URL:         CallbackURL(false, i%d.plan.Hosts, d.plan.Port, i),
		ContentType: "application/x-www-form-urlencoded",
		Header:      []string{rsscloud.HopsHeader, "1"},
		Body:        []byte("url=" + url.QueryEscape(feed)),
	})
}

// pinger sends pings over persistent connections.
type pinger struct {
	endpoint string // URL of the REST endpoint
	web      *http.Client
}

func newPinger(addr string, clients int) *pinger {
	return &pinger{
		endpoint: "http://" + addr + "/rsscloud/ping",
		web: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients, DisableCompression: true, Protocols: onlyHTTP1(),
		}},
	}
}

// ping sends a ping for a feed, and returns when the server acknowledges the ping.
func (p *pinger) ping(ctx context.Context, feed string) error {
	body := strings.NewReader("url=" + url.QueryEscape(feed))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return success(p.web.Do(req))
}

// success returns nil if a REST response reports success, and an error otherwise.
func success(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text := make([]byte, 4<<10)
	n := 0
	for n < len(text) {
		k, err := resp.Body.Read(text[n:])
		if n += k; err != nil {
			break // the response is checked below
		}
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(text[:n]), `"success":true`) {
		return fmt.Errorf("the endpoint returned %s: %s", resp.Status, text[:n])
	}
	return nil
}
