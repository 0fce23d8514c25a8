package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
)

// fakeRelays stores relays in memory. It implements only what the API uses.
type fakeRelays struct{ list []upstream.Follow }

func (w *fakeRelays) Add(_ context.Context, r upstream.Request) (upstream.Follow, error) {
	switch {
	case strings.Contains(r.Feed, "own"):
		return upstream.Follow{}, fault.New(fault.Refused, "This server is the feed's own hub; there is nothing to follow.")
	case strings.Contains(r.Feed, "silent"):
		return upstream.Follow{}, fault.New(fault.Unreadable, "The feed cannot be read.")
	case strings.Contains(r.Feed, "plain"):
		return upstream.Follow{}, fault.New(fault.NotFound, "The feed names no hub.")
	}
	f := upstream.Follow{Feed: r.Feed, Protocol: upstream.WebSub, Topic: r.Feed, Hub: "https://hub.example/", State: upstream.Pending,
		For: []string{r.For}, CreatedAt: start(), NextAt: start(), Token: "token-of-it", Secret: "secret-of-it"}
	w.list = append(w.list, f)
	return f, nil
}

func (w *fakeRelays) Remove(_ context.Context, feed, via, who string) ([]upstream.Follow, error) {
	for i, f := range w.list {
		if f.Feed == feed && (via == "" || f.Protocol == via) && slices.Contains(f.For, who) {
			w.list = slices.Delete(w.list, i, i+1)
			return []upstream.Follow{f}, nil
		}
	}
	return nil, fault.New(fault.NotFound, "This server does not follow %s.", feed)
}

func (w *fakeRelays) List(_ context.Context, q upstream.Query) ([]upstream.Follow, error) {
	var list []upstream.Follow
	for _, f := range w.list {
		if f.Feed > q.After.Feed && (q.Protocol == "" || f.Protocol == q.Protocol) && (q.State == "" || f.State == q.State) {
			list = append(list, f)
		}
	}
	return list[:min(len(list), q.Limit)], nil
}

func TestRelayResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeRelays{list: []upstream.Follow{{
		Feed: "http://a.example/rss", Protocol: upstream.RSSCloud, Hub: "http://cloud.example/pleaseNotify", Topic: "http://a.example/rss", State: upstream.Active,
		For: []string{"relay"}, CreatedAt: start(), RequestedAt: start(), ConfirmedAt: start(), ReceivedAt: start(), ExpiresAt: start().Add(time.Hour), NextAt: start(),
		Failures: 1, Rejected: 2, LastError: "It refused.", LastErrorAt: start(), Token: "token-of-it", Secret: "secret-of-it",
	}}}
	_, srv := serveWith(t, Options{Hub: newFakeHub(), Relays: w, Bus: event.NewBus(1)})
	const js = "application/json"
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/relays?limit=1", "", 200},
		{"GET", "/v1/relays?via=rsscloud&state=active&match=a", "", 200},
		{"GET", "/v1/relays?via=smoke", "", 400},
		{"GET", "/v1/relays?state=smoke", "", 400},
		{"GET", "/v1/relays?after=smoke", "", 400},
		{"GET", "/v1/relays?feed=x", "", 400},
		{"POST", "/v1/relays", `{"feed":"http://b.example/rss","via":"websub","hub":"https://hub.example/"}`, 200},
		{"POST", "/v1/relays", `{"feed":"http://own.example/rss"}`, 403},
		{"POST", "/v1/relays", `{"feed":"http://plain.example/rss"}`, 404},
		{"POST", "/v1/relays", `{"feed":"http://silent.example/rss"}`, 422},
		{"POST", "/v1/relays", `{"url":"http://b.example/rss"}`, 400},
		{"DELETE", "/v1/relays?feed=http://b.example/rss&via=cnws", "", 404},
		{"DELETE", "/v1/relays?feed=http://b.example/rss&via=smoke", "", 400},
		{"DELETE", "/v1/relays?feed=http://b.example/rss", "", 200},
		{"DELETE", "/v1/relays", "", 400},
	} {
		res, body := do(t, srv, tt.method, tt.path, js, tt.body)
		if res.StatusCode != tt.status {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.StatusCode, body)
			continue
		}
		if err := checkAnswer(doc, tt.method, "/v1/relays", res, body); err != nil {
			t.Errorf("%s %s: %v\n%s", tt.method, tt.path, err, body)
		}
		if strings.Contains(body, "-of-it") {
			t.Errorf("%s %s reveals a token or a secret: %s", tt.method, tt.path, body)
		}
	}
}

func TestRelayRequestsReturn501WithoutRelays(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for _, method := range []string{"GET", "POST", "DELETE"} {
		res, body := do(t, srv, method, "/v1/relays", "application/json", `{"feed":"http://b.example/rss"}`)
		if res.StatusCode != 501 || !strings.Contains(body, "does not follow feeds") {
			t.Errorf("%s: %d %s", method, res.StatusCode, body)
		}
	}
}

func TestRelaysAreListedInPages(t *testing.T) {
	t.Parallel()
	w := &fakeRelays{}
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Relays: w, Bus: event.NewBus(1)})
	const all = 2100
	for i := range all {
		w.list = append(w.list, upstream.Follow{Feed: fmt.Sprintf("http://a.example/%04d", i), Protocol: upstream.CNWS, State: upstream.Active, CreatedAt: start()})
	}
	n := 0
	for r, err := range c.Relays(t.Context(), client.RelayQuery{}) {
		if err != nil || r.Feed != w.list[n].Feed {
			t.Fatalf("row %d is %s, %v", n, r.Feed, err)
		}
		n++
	}
	if n != all {
		t.Errorf("%d of %d are listed", n, all)
	}
	if _, err := c.AddRelay(t.Context(), client.RelayRequest{Feed: "http://b.example/"}); err != nil {
		t.Fatal(err)
	}
	if gone, err := c.RemoveRelay(t.Context(), "http://b.example/", "websub"); err != nil || len(gone) != 1 {
		t.Errorf("removed: %v, %v", gone, err)
	}
	if _, err := c.RemoveRelay(t.Context(), "http://b.example/", ""); !client.IsNotFound(err) {
		t.Errorf("removed again: %v", err)
	}
}
