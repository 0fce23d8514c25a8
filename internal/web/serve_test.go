package web

import (
	"flag"
	"net/http"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

var (
	serveOn  = flag.String("serve", "", "serve the pages over made-up data at this address, with -run TestServe, until the process ends")
	serveFor = flag.Duration("serve-for", time.Hour, "for how long")
)

// TestServe is a bench to look at the pages from: go test -run TestServe -serve 127.0.0.1:8080
func TestServe(t *testing.T) {
	if *serveOn == "" {
		t.Skip("only with -serve")
	}
	f := newFake()
	w, bus := newWeb(t, f)
	f.now = time.Now().UTC()
	rich(f, bus)
	w.Warnings = func() []string {
		return []string{"Callbacks on 127.0.0.0/8 are allowed by egress.allow-callback: strangers can have this server call addresses in that network."}
	}
	w.Now = time.Now
	f.reg = func(r hub.Registration) (hub.Registered, error) {
		out := hub.Registered{Accepted: r.Feeds[:1], Expires: time.Now().Add(25 * time.Hour)}
		for _, feed := range r.Feeds[1:] {
			out.Refused = append(out.Refused, hub.Refusal{Feed: feed, Reason: "This feed could not be read: its server answered 404 Not Found."})
		}
		return out, nil
	}
	server := &http.Server{Addr: *serveOn, Handler: w.Routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for range tick.C {
			f.mu.Lock()
			f.now = time.Now().UTC()
			f.mu.Unlock()
			u := "https://scripting.com/rss.xml"
			f.add(bus, event.Event{Kind: event.KindPing, TopicID: hub.TopicID(u), Topic: u, OK: true, Door: "rest", Peer: "203.0.113.9", Text: "Thanks for the ping.", Took: 84 * time.Millisecond})
		}
	}()
	time.AfterFunc(*serveFor, func() { _ = server.Close() })
	t.Log(server.ListenAndServe())
}
