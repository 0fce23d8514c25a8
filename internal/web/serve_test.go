package web

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/web/content"
	"cloudburst/internal/web/shell"
)

var (
	serveOn  = flag.String("serve", "", "serve the pages over made-up data at this address, with -run TestServeHubPagesWithSampleData, until the process ends")
	serveFor = flag.Duration("serve-for", time.Hour, "for how long")
)

// TestServeHubPagesWithSampleData serves the pages, so that you can view them in a browser. Command:
// go test -run TestServeHubPagesWithSampleData -serve 127.0.0.1:8080
func TestServeHubPagesWithSampleData(t *testing.T) {
	if *serveOn == "" {
		t.Skip("only with -serve")
	}
	f := newFake()
	w, bus := newWeb(t, f)
	f.now = time.Now().UTC()
	addBusyDay(f, bus)
	w.Warnings = func() []string {
		return []string{"Callbacks on 127.0.0.0/8 are allowed by egress.allow-callback: other clients can make this server call addresses in that network."}
	}
	w.Now = time.Now
	f.reg = func(r hub.Registration) (hub.Registered, error) {
		out := hub.Registered{Accepted: r.Feeds[:1], Expires: time.Now().Add(25 * time.Hour)}
		for _, feed := range r.Feeds[1:] {
			out.Refused = append(out.Refused, hub.Refusal{Feed: feed, Reason: "This feed could not be read: its server answered 404 Not Found."})
		}
		return out, nil
	}
	b := newFakeRiver(w.Now)
	addRiverItems(b, "alice")
	w.River, w.Arrivals, w.Images, w.Remote, w.ImageKey = b, b.Listen, content.ImagesProxy, &fakeImages{}, []byte("0123456789abcdef0123456789abcdef")
	source := river.SourceID("http://scripting.com/rss.xml")
	server := &http.Server{Addr: *serveOn, Handler: settled(t, w, f), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for n := 0; ; n++ {
			<-tick.C
			if n%5 == 4 {
				b.arrive(river.Item{SourceID: source, GUID: fmt.Sprint("live-", n), Content: river.Content{HTML: "<p>Something new, number " + fmt.Sprint(n/5) + ".</p>", Link: "http://scripting.com/", Published: time.Now()}})
			}
			f.mu.Lock()
			f.now = time.Now().UTC()
			f.mu.Unlock()
			u := "https://scripting.com/rss.xml"
			f.add(bus, event.Event{Kind: event.KindPing, TopicID: hub.TopicID(u), Topic: u, OK: true, Via: "rest", Peer: "203.0.113.9", Text: "Thanks for the ping.", Took: 84 * time.Millisecond})
		}
	}()
	time.AfterFunc(*serveFor, func() { _ = server.Close() })
	t.Log(server.ListenAndServe())
}

// settled adds users and feeds to w, and returns the handler of all pages. alice has the password
// "correct horse" and a feed. bob has the password "battery staple" and no feed.
func settled(t *testing.T, w *Web, f *fake) http.Handler {
	p, s := newFakeAccounts(f).with("alice", "correct horse").with("bob", "battery staple"), newFakeFeeds(f)
	w.Accounts, w.Authors, w.Audience, w.Registration = p, s, sampleAudience(f.now), func() bool { return true }
	x := &accountHarness{T: t, Web: w, fake: f, fakeAccounts: p, fakeFeeds: s}
	doc, err := os.ReadFile("testdata/alice.xml")
	if err != nil {
		t.Fatal(err)
	}
	x.save("alice", "rss", string(doc))
	for _, agent := range []string{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1", "feedtool/2.1"} {
		x.cookie, _, _ = p.StartSession(t.Context(), p.users["alice"], agent)
	}
	_, _, _ = p.NewToken(t.Context(), "alice", "the script on my laptop", []string{"create", "update"})
	_, _ = p.NewSecret(t.Context(), "alice", "private", "Anna, on her phone")
	_, _ = p.NewSecret(t.Context(), "alice", "private", "Grandfather")
	p.secrets[0].UsedAt = f.now.Add(-5 * time.Hour)
	page := w.AuthorPage()
	mux := http.NewServeMux()
	for _, user := range []string{"alice", "bob"} {
		mux.HandleFunc("GET /"+user+"/{$}", func(rw http.ResponseWriter, r *http.Request) { page(rw, r, user) })
	}
	mux.HandleFunc("/test/as/{user}", func(rw http.ResponseWriter, r *http.Request) {
		cookie, _, _ := p.StartSession(r.Context(), p.users[r.PathValue("user")], r.UserAgent())
		http.SetCookie(rw, &http.Cookie{Name: "cloudburst", Value: cookie, Path: "/", HttpOnly: true})
		http.Redirect(rw, r, shell.LocalPath(r.URL.Query().Get("to"), "/account"), http.StatusSeeOther)
	})
	mux.HandleFunc("/test/first", func(rw http.ResponseWriter, r *http.Request) {
		p.first = "k3v9-7qpd-x2mn"
		if r.URL.Query().Has("off") {
			p.first = ""
		}
		http.Redirect(rw, r, "/setup?token="+p.first, http.StatusSeeOther)
	})
	mux.Handle("/", w.Routes())
	return mux
}
