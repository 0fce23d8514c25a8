package hubhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"

	"github.com/google/go-cmp/cmp"
)

// moving is a network with redirects. to maps a URL without its query to the Location of a
// redirect.
type moving struct {
	to     map[string]string
	status map[string]int // key: URL, value: status; by default 302 for a URL that redirects, and 200 for others
	agrees map[string]bool
	took   time.Duration

	*fakeSender
}

func newMoving(to map[string]string) *moving {
	n := &moving{to: to, status: map[string]int{}, agrees: map[string]bool{}}
	n.fakeSender = &fakeSender{answer: n.reply}
	return n
}

func (n *moving) reply(m *fetch.Message) fetch.Reply {
	at, query, _ := strings.Cut(m.URL, "?")
	r := fetch.Reply{Status: n.status[at], Location: n.to[at], Took: n.took}
	switch {
	case r.Status == -1:
		return fetch.Reply{Err: &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral}, Took: n.took}
	case r.Status == -2:
		return fetch.Reply{Err: &fetch.Error{Kind: fetch.TimedOut, Text: fetch.Neutral}, Timeout: true, Took: n.took}
	case r.Status == 0 && r.Location != "":
		r.Status = http.StatusFound
	case r.Status == 0:
		r.Status = http.StatusOK
	}
	if q, err := url.ParseQuery(query); err == nil && m.Method == http.MethodGet && n.agrees[at] && r.Status == 200 {
		r.Body = []byte(q.Get("challenge"))
	}
	return r
}

// log returns method and URL of the requests since the last call, without queries.
func (n *moving) log() (list []string) {
	for _, m := range n.sent {
		at, _, _ := strings.Cut(m.URL, "?")
		method := m.Method
		if method == "" {
			method = "POST"
		}
		list = append(list, method+" "+at)
	}
	n.sent = nil
	return list
}

func (n *moving) notify(t *testing.T, r *Redirects, callback string) hub.Reply {
	t.Helper()
	sub := subscription("http-post")
	sub.Callback = callback
	return (&Notifier{Sender: n, Redirects: r}).Notify(t.Context(), &sub, new(topic(feed)), nil, 0)
}

func TestRedirectOnSameHostIsFollowedAndRemembered(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 307, 308} {
		for location, to := range map[string]string{
			"/new?x=1#part": "http://agg.example/new?x=1", "new": "http://agg.example/new", "http://AGG.example:8080/new": "http://AGG.example:8080/new",
			"https://agg.example./new": "https://agg.example./new",
		} {
			n := newMoving(map[string]string{"http://agg.example/cb": location})
			n.status["http://agg.example/cb"] = status
			r := &Redirects{}
			if got := n.notify(t, r, "http://agg.example/cb"); !got.OK {
				t.Fatalf("%d %s: %+v", status, location, got)
			}
			if len(n.sent) != 2 || n.sent[1].URL != to || string(n.sent[1].Body) != string(n.sent[0].Body) || n.sent[1].Method != n.sent[0].Method ||
				n.sent[1].ContentType != n.sent[0].ContentType || !cmp.Equal(n.sent[1].Header, n.sent[0].Header) {
				t.Errorf("%d %s: sent %+v", status, location, n.sent)
			}
			n.log()
			if got := n.notify(t, r, "http://agg.example/cb"); !got.OK || len(n.sent) != 1 || n.sent[0].URL != to {
				t.Errorf("%d %s: the next notification: %+v %v", status, location, got, n.log())
			}
		}
	}
}

func TestAtMostThreeRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	chain := map[string]string{}
	for i := range 6 {
		chain[fmt.Sprintf("http://agg.example/%d", i)] = fmt.Sprintf("/%d", i+1)
	}
	for start, sent := range map[int]int{5: 2, 4: 3, 3: 4, 2: 4, 0: 4} {
		n := newMoving(chain)
		got := n.notify(t, &Redirects{}, fmt.Sprintf("http://agg.example/%d", start))
		if got.OK != (start >= 3) || len(n.sent) != sent || !got.OK && got.Text != tooManyRedirects {
			t.Errorf("from %d: %+v %v", start, got, n.log())
		}
	}
}

func TestErrorStatesWhyARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	callable := func(u string) error {
		switch {
		case strings.Contains(u, "/own"):
			return fault.Wrap(fault.Refused, fetch.ErrOwn, "It is this server itself.")
		case strings.Contains(u, "/never"):
			return fault.New(fault.Refused, "It is not called.")
		}
		return nil
	}
	for _, c := range []struct {
		callback, location string
		status             int
		text               string
	}{
		{"http://agg.example/cb", "", 302, noRedirectTarget},
		{"http://agg.example/cb", "http://u:p@agg.example/x", 302, noRedirectTarget},
		{"http://agg.example/cb", "ftp://agg.example/x", 302, noRedirectTarget},
		{"http://agg.example/cb", "http://[x/", 302, noRedirectTarget},
		{"https://agg.example/cb", "http://agg.example/x", 302, insecureRedirect},
		{"http://agg.example/cb", "/own", 302, redirectsHere},
		{"http://agg.example/cb", "/never", 302, redirectsAway},
		{"http://agg.example/cb", "/x", 300, "The callback answered 300 Multiple Choices, and this redirect was not followed: register"},
		{"http://agg.example/cb", "/x", 303, "The callback answered 303 See Other, and this redirect was not followed: register"},
		{"http://agg.example/cb", "/x", 304, "The callback answered 304 Not Modified."},
	} {
		n := newMoving(map[string]string{c.callback: c.location})
		n.status[c.callback] = c.status
		got := n.notify(t, &Redirects{Callable: callable}, c.callback)
		if got.OK || got.Gone || got.NotTried || !strings.HasPrefix(got.Text, c.text) || len(n.sent) != 1 || got.Exchange.Callback != c.callback {
			t.Errorf("%s → %d %s: %+v %v", c.callback, c.status, c.location, got, n.log())
		}
	}
}

func TestRedirectToOtherHostIsNotFollowedBeforeConsent(t *testing.T) {
	t.Parallel()
	n := newMoving(map[string]string{"http://agg.example/cb": "http://victim.example/x"})
	now := time.Unix(1e9, 0)
	r := &Redirects{Now: func() time.Time { return now }}
	for range 3 {
		if got := n.notify(t, r, "http://agg.example/cb"); got.OK || got.Text != redirectNotAgreed {
			t.Errorf("%+v", got)
		}
	}
	want := []string{"POST http://agg.example/cb", "GET http://victim.example/x", "POST http://agg.example/cb", "POST http://agg.example/cb"}
	if d := cmp.Diff(want, n.log()); d != "" {
		t.Error(d)
	}
	now = now.Add(refusalTTL)
	n.agrees["http://victim.example/x"] = true
	for range 2 {
		if got := n.notify(t, r, "http://agg.example/cb"); !got.OK {
			t.Errorf("%+v", got)
		}
	}
	want = []string{"POST http://agg.example/cb", "GET http://victim.example/x", "POST http://victim.example/x", "POST http://victim.example/x"}
	if d := cmp.Diff(want, n.log()); d != "" {
		t.Error(d)
	}
}

func TestRedirectToOtherHostIsFollowedAfterItsConsent(t *testing.T) {
	t.Parallel()
	n := newMoving(map[string]string{"http://agg.example/cb": "http://between.example/x", "http://between.example/x": "https://end.example/y"})
	n.agrees["https://end.example/y"] = true
	if got := n.notify(t, &Redirects{}, "http://agg.example/cb"); !got.OK {
		t.Errorf("%+v", got)
	}
	want := []string{"POST http://agg.example/cb", "GET http://between.example/x", "GET https://end.example/y", "POST https://end.example/y"}
	if d := cmp.Diff(want, n.log()); d != "" {
		t.Error(d)
	}
}

func TestChallengesByRedirectsAreLimitedPerHost(t *testing.T) {
	t.Parallel()
	n := newMoving(map[string]string{"http://agg.example/cb": "http://victim.example/x"})
	n.agrees["http://victim.example/x"] = true
	r := &Redirects{AllowChallenge: func(u string) bool { return !strings.HasPrefix(u, "http://victim.example/") }}
	if got := n.notify(t, r, "http://agg.example/cb"); !got.NotTried || len(n.sent) != 1 {
		t.Errorf("%+v %v", got, n.log())
	}
	sub := subscription("http-post")
	sub.Callback = "http://agg.example/cb"
	n.sent = nil
	_, err := (&Verifier{Sender: n, Redirects: r}).Verify(t.Context(), sub, topic(feed), true)
	if fault.CodeOf(err) != fault.Unavailable || len(n.sent) != 1 {
		t.Errorf("%v %v", err, n.log())
	}
}

func TestFailedRememberedRedirectIsForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		ok     bool
		sent   []string
	}{
		{"404", 404, true, []string{"POST http://agg.example/old", "POST http://agg.example/cb", "POST http://agg.example/new"}},
		{"410", 410, true, []string{"POST http://agg.example/old", "POST http://agg.example/cb", "POST http://agg.example/new"}},
		{"no response", -1, true, []string{"POST http://agg.example/old", "POST http://agg.example/cb", "POST http://agg.example/new"}},
		{"503", 503, false, []string{"POST http://agg.example/old"}},
		{"timeout", -2, false, []string{"POST http://agg.example/old"}},
	} {
		n := newMoving(map[string]string{"http://agg.example/cb": "/old"})
		r := &Redirects{}
		n.notify(t, r, "http://agg.example/cb")
		n.log()
		n.to["http://agg.example/cb"] = "/new"
		n.status["http://agg.example/old"] = c.status
		if got := n.notify(t, r, "http://agg.example/cb"); got.OK != c.ok || got.Gone {
			t.Errorf("%s: %+v", c.name, got)
		}
		if d := cmp.Diff(c.sent, n.log()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if c.status == -2 {
			if got := n.notify(t, r, "http://agg.example/cb"); !got.OK || n.log()[0] != "POST http://agg.example/cb" {
				t.Errorf("after a time-out: %+v", got)
			}
		}
	}
}

func TestAllRedirectsOfANotificationShareOneTimeout(t *testing.T) {
	t.Parallel()
	left := []time.Duration{}
	s := &timedMoving{moving: newMoving(map[string]string{"http://agg.example/a": "/b", "http://agg.example/b": "/c"}), left: &left}
	s.took = 4 * time.Second
	got := (&Notifier{Sender: s, Redirects: &Redirects{Timeout: 10 * time.Second}}).Notify(t.Context(), &hub.Subscription{Protocol: "http-post", Callback: "http://agg.example/a"}, new(topic(feed)), nil, 0)
	if !got.OK || got.Took != 12*time.Second || len(left) != 3 || left[0] != 0 || left[1] > 6*time.Second || left[2] > 6*time.Second {
		t.Errorf("%+v, %v left", got, left)
	}
}

// timedMoving records the timeout of each request. 0 means the timeout of the sender.
type timedMoving struct {
	*moving
	left *[]time.Duration
}

func (d *timedMoving) Send(ctx context.Context, m *fetch.Message) fetch.Reply {
	left := time.Duration(0)
	if at, ok := ctx.Deadline(); ok {
		left = time.Until(at)
	}
	*d.left = append(*d.left, left)
	return d.moving.Send(ctx, m)
}

func TestRegistrationFollowsRedirects(t *testing.T) {
	t.Parallel()
	const cb = "http://agg.example/cb"
	for _, c := range []struct {
		name      string
		challenge bool
		to        map[string]string
		agrees    string
		text      string // "" means consent
		sent      []string
		next      string // URL of the next notification
	}{
		{"a test call", false, map[string]string{cb: "/new"}, "", "", []string{"POST " + cb, "POST http://agg.example/new"}, "http://agg.example/new"},
		{"a test call to another host", false, map[string]string{cb: "http://b.example/new"}, "", redirectNotAgreed, []string{"POST " + cb, "GET http://b.example/new"}, cb},
		{"test call to a host with consent", false, map[string]string{cb: "http://b.example/new"}, "http://b.example/new", "",
			[]string{"POST " + cb, "GET http://b.example/new", "POST http://b.example/new"}, "http://b.example/new"},
		{"a challenge", true, map[string]string{cb: "/new"}, "http://agg.example/new", "", []string{"GET " + cb, "GET http://agg.example/new"}, "http://agg.example/new"},
		{"a challenge of another host", true, map[string]string{cb: "http://b.example/new"}, "http://b.example/new", "", []string{"GET " + cb, "GET http://b.example/new"}, "http://b.example/new"},
		{"failed challenge of another host", true, map[string]string{cb: "/new"}, "", "does not contain the challenge", []string{"GET " + cb, "GET http://agg.example/new"}, cb},
		{"a loop", true, map[string]string{cb: "/cb"}, "", tooManyRedirects, []string{"GET " + cb, "GET " + cb, "GET " + cb, "GET " + cb}, cb},
	} {
		n := newMoving(c.to)
		n.agrees[c.agrees] = true
		r := &Redirects{}
		sub := subscription("http-post")
		sub.Callback = cb
		_, err := (&Verifier{Sender: n, Redirects: r}).Verify(t.Context(), sub, topic(feed), c.challenge)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(fault.Message(err), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.sent, n.log()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		n.notify(t, r, cb)
		if got := n.sent[0].URL; got != c.next {
			t.Errorf("%s: target of the next notification: %s, want %s", c.name, got, c.next)
		}
	}
}

// TestChallengeCopiedByARedirectIsNotSentTwice has redirects that copy the query of the request, as web
// frameworks do.
func TestChallengeCopiedByARedirectIsNotSentTwice(t *testing.T) {
	t.Parallel()
	s := &fakeSender{}
	s.answer = func(m *fetch.Message) fetch.Reply {
		u, _ := url.Parse(m.URL)
		if u.Path == "/cb" {
			return fetch.Reply{Status: 303, Location: "/new?k=v&" + u.RawQuery}
		}
		return fetch.Reply{Status: 200, Body: []byte(u.Query().Get("challenge"))}
	}
	r := &Redirects{}
	sub := subscription("http-post")
	sub.Callback = "http://agg.example/cb"
	if _, err := (&Verifier{Sender: s, Redirects: r}).Verify(t.Context(), sub, topic(feed), true); err != nil {
		t.Fatal(err)
	}
	if q, _ := url.ParseQuery(s.sent[1].URL[strings.Index(s.sent[1].URL, "?")+1:]); len(q["challenge"]) != 1 || len(q["url"]) != 1 || q.Get("k") != "v" {
		t.Errorf("request to %s", s.sent[1].URL)
	}
	if to := r.cachedTarget(sub.Callback); to != "http://agg.example/new?k=v" {
		t.Errorf("it is remembered as %s", to)
	}
}

func TestRememberedRedirectsAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	r := &Redirects{Now: func() time.Time { return now }}
	for i := range 3 * maxRedirectEntries {
		r.remember(fmt.Sprint("http://agg.example/", i), "http://agg.example/new")
	}
	if n := len(r.entries); n > maxRedirectEntries || n == 0 {
		t.Errorf("%d are kept", n)
	}
	r.remember("http://agg.example/cb", "http://agg.example/new")
	now = now.Add(redirectTTL)
	if to := r.cachedTarget("http://agg.example/cb"); to != "" {
		t.Errorf("after %s it is still %s", redirectTTL, to)
	}
}
