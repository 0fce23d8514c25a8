package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/announce"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
)

// fakeTargets stores ping targets in memory. It implements only what the API uses.
type fakeTargets struct {
	list    []announce.PendingTarget
	retried string
}

func (w *fakeTargets) List(_ context.Context, q announce.Query) ([]announce.PendingTarget, error) {
	var list []announce.PendingTarget
	after := q.After == announce.Key{}
	for _, o := range w.list {
		if after && (q.User == "" || o.User == q.User) && (!q.Pending || o.Notified < o.Version) {
			list = append(list, o)
		}
		after = after || o.Key == q.After
	}
	return list[:min(len(list), q.Limit)], nil
}

func (w *fakeTargets) Retry(_ context.Context, target string) (int, error) {
	w.retried = target
	return len(w.list), nil
}

func pendingTarget(user string, notified int64, change func(o *announce.PendingTarget)) announce.PendingTarget {
	o := announce.PendingTarget{Key: announce.Key{User: user, Target: "get http://sink.example/?u={1}", Topic: "http://me.example/" + user + "/rss.xml"}, Version: 2, Notified: notified}
	if change != nil {
		change(&o)
	}
	return o
}

func TestPingTargetResponsesMatchSchema(t *testing.T) {
	t.Parallel()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeTargets{list: []announce.PendingTarget{
		pendingTarget("ann", 2, func(o *announce.PendingTarget) { o.LastAt, o.Last, o.OK = start(), "Thanks.", true }),
		pendingTarget("bob", 1, func(o *announce.PendingTarget) {
			o.DueAt, o.Tries, o.LastAt, o.Last = start(), 2, start(), "It refused."
		}),
		pendingTarget("cid", 0, func(o *announce.PendingTarget) { o.GaveUp = true }),
		pendingTarget("dan", 0, func(o *announce.PendingTarget) { o.Lease, o.DueAt = 7, start() }),
	}}
	_, srv := serveWith(t, Options{Hub: newFakeHub(), Targets: w, Bus: event.NewBus(1), Tick: func(context.Context) (time.Time, string, error) {
		return start(), "http://me.example/test/rss.xml", nil
	}})
	for _, tt := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/v1/sinks", 200, `"state":"given-up"`},
		{"GET", "/v1/sinks?user=ann", 200, `"state":"told"`},
		{"GET", "/v1/sinks?owing=true&limit=1", 200, `"state":"owed"`},
		{"GET", "/v1/sinks?owing=true&user=dan", 200, `"state":"telling"`},
		{"GET", "/v1/sinks?owing=smoke", 400, "true or false"},
		{"GET", "/v1/sinks?after=smoke", 400, "in the previous page"},
		{"GET", "/v1/sinks?x=1", 400, "is unknown"},
		{"POST", "/v1/sinks/retry?url=http://sink.example/", 200, `"retried":4`},
		{"POST", "/v1/testfeed/tick", 200, "test/rss.xml"},
	} {
		res, body := do(t, srv, tt.method, tt.path, "", "")
		if res.StatusCode != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.StatusCode, body)
		}
		path, _, _ := strings.Cut(tt.path, "?")
		if err := checkAnswer(doc, tt.method, path, res, body); err != nil {
			t.Errorf("%s %s: %v\n%s", tt.method, tt.path, err, body)
		}
	}
	if w.retried != "http://sink.example/" {
		t.Errorf("retried %q", w.retried)
	}
}

func TestPingTargetAndTestFeedRequestsReturn501IfUnsupported(t *testing.T) {
	t.Parallel()
	_, srv := serve(t, newFakeHub())
	for path, method := range map[string]string{"/v1/sinks": "GET", "/v1/sinks/retry": "POST", "/v1/testfeed/tick": "POST"} {
		if res, body := do(t, srv, method, path, "", ""); res.StatusCode != 501 {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	_, srv = serveWith(t, Options{Hub: newFakeHub(), Bus: event.NewBus(1), Tick: func(context.Context) (time.Time, string, error) {
		return time.Time{}, "", fault.New(fault.Conflict, "No server runs.")
	}})
	if res, body := do(t, srv, "POST", "/v1/testfeed/tick", "", ""); res.StatusCode != 409 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

func TestPingTargetsAreListedInPages(t *testing.T) {
	t.Parallel()
	w := &fakeTargets{}
	for i := range 1100 {
		w.list = append(w.list, pendingTarget(fmt.Sprintf("user%04d", i), 0, nil))
	}
	c, _ := serveWith(t, Options{Hub: newFakeHub(), Targets: w, Bus: event.NewBus(1)})
	n := 0
	for s, err := range c.PingTargets(t.Context(), client.PingTargetQuery{Pending: true}) {
		if err != nil || s.User != w.list[n].User || s.URL != "http://sink.example/?u={1}" {
			t.Fatalf("row %d is %+v, %v", n, s, err)
		}
		n++
	}
	if n != len(w.list) {
		t.Errorf("%d of %d are listed", n, len(w.list))
	}
	if got, err := c.RetryPingTargets(t.Context(), ""); got != n || err != nil {
		t.Errorf("retried %d, %v", got, err)
	}
}
