package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

// sentEvent is an event of a stream of items.
type sentEvent struct{ kind, guid, id string }

// collect follows a stream of items until it has received enough events, and returns these events. It
// calls begun in a separate goroutine.
func collect(t *testing.T, r *client.River, q client.ItemQuery, after int64, enough int, begun func()) []sentEvent {
	t.Helper()
	var got []sentEvent
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if begun != nil {
		go begun()
	}
	err := r.Follow(ctx, q, after, func(e client.ItemEvent) error {
		got = append(got, sentEvent{e.Kind, e.Item.GUID, ""})
		if len(got) == enough {
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Errorf("after %v: %v", got, err)
	}
	return got
}

// until waits until a condition is true. After two minutes it fails the test.
func until(t *testing.T, what func() bool) {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !what() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Error("it did not happen")
			return
		}
	}
}

func TestItemStreamResumesAfterLastSeqAndContinuesLive(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	w.follow("alice", "http://a.example/", 2)
	w.follow("bob", "http://b.example/", 1)
	c, _ := serveRiver(t, w)
	seen := w.entries[0].Seq
	// The stream also sends item 0 again, because it starts with the items from the 5 s before seen.
	got := collect(t, c.River("alice"), client.ItemQuery{}, seen, 4, func() {
		until(t, func() bool { return w.listening() > 0 })
		w.arrive(w.item("http://b.example/", "other"))
		w.arrive(w.item("http://a.example/", "new"))
		w.mu.Lock()
		e := &w.entries[1]
		e.Seq, e.EditedAt = start().UnixMicro()+1000, start()
		a := river.Arrival{SourceID: e.SourceID, Seq: e.Seq, Items: []river.Arrived{{ID: e.ID, Seq: e.Seq}}}
		w.mu.Unlock()
		w.arrive(a)
	})
	want := []sentEvent{{kind: "new", guid: "0"}, {kind: "new", guid: "1"}, {kind: "new", guid: "new"}, {kind: "edited", guid: "1"}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	until(t, func() bool { return w.listening() == 0 })
}

func TestSearchStreamSendsItemsIndexedLater(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	w.follow("", "http://a.example/", 0)
	w.search = false
	c, _ := serveRiver(t, w)
	got := collect(t, c.River(""), client.ItemQuery{Match: "wanted"}, 0, 1, func() {
		until(t, func() bool { return w.listening() > 0 })
		w.arrive(w.item("http://a.example/", "other"))
		w.arrive(w.item("http://a.example/", "wanted"))
		w.mu.Lock()
		w.search = true
		w.mu.Unlock()
	})
	if !slices.Equal(got, []sentEvent{{kind: "new", guid: "wanted"}}) {
		t.Error(got)
	}
}

func TestStreamWithInvalidLastEventIDIsRejected(t *testing.T) {
	t.Parallel()
	_, srv := serveRiver(t, newFakeRiver())
	res, body := do(t, srv, "GET", "/v1/items/stream", "", "", func(r *http.Request) { r.Header.Set("Last-Event-ID", "1:2") })
	if res.StatusCode != 400 || !strings.Contains(body, "not the id of an event") {
		t.Error(res.StatusCode, body)
	}
}

func TestStreamEndsWhenTokenIsRevoked(t *testing.T) {
	t.Parallel()
	w := newFakeRiver()
	api := New(Options{River: w, Heartbeat: time.Millisecond})
	api.listen = w.listen
	left := 3
	c := &riverCall{w: httptest.NewRecorder(), r: httptest.NewRequestWithContext(t.Context(), "GET", "/v1/items/stream", nil), public: true, stillAllowed: func() error {
		if left--; left == 0 {
			return fault.New(fault.Refused, "There is no such token, or it was revoked.")
		}
		return nil
	}}
	if err := (riverAPI{api}).itemStream(c); err != nil || left != 0 {
		t.Error(left, err)
	}
}
