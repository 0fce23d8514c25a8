package conversation

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fault"
)

// sentStore is a SendStore in memory for one post.
type sentStore struct {
	SendStore // provides the methods that the tests do not use
	mu        sync.Mutex
	rows      []Sent
}

func (s *sentStore) ChangeSent(_ context.Context, _ string, _ int64, change func([]Sent) []Sent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = change(slices.Clone(s.rows))
	return nil
}

func (s *sentStore) ClaimSent(_ context.Context, now, until time.Time, limit int, lease int64) (list []Sent, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if o := &s.rows[i]; !o.DueAt.IsZero() && !o.DueAt.After(now) && len(list) < limit {
			o.DueAt, o.Lease = until, lease
			list = append(list, *o)
		}
	}
	return list, nil
}

func (s *sentStore) NextSent(context.Context) (next time.Time, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.rows {
		if !o.DueAt.IsZero() && (next.IsZero() || o.DueAt.Before(next)) {
			next = o.DueAt
		}
	}
	return next, nil
}

// outbox is a running Sender whose targets answer as the test requires.
type outbox struct {
	*Sender
	store    *sentStore
	mu       sync.Mutex
	page     Page
	sent     []string // targets of the requests, in order
	active   map[string]int
	most     int // maximum number of concurrent requests to one host
	discover func(target string) (string, error)
	answer   func(target string) error
}

func (w *outbox) Discover(_ context.Context, target string) (string, error) {
	return w.discover(target)
}

func (w *outbox) Send(_ context.Context, endpoint, _, target string) (int, error) {
	host := hostPart(endpoint)
	w.mu.Lock()
	w.sent = append(w.sent, target)
	w.active[host]++
	w.most = max(w.most, w.active[host])
	w.mu.Unlock()
	time.Sleep(time.Second)
	w.mu.Lock()
	w.active[host]--
	w.mu.Unlock()
	if err := w.answer(target); err != nil {
		return 0, err
	}
	return 202, nil
}

func hostPart(url string) string { return strings.Split(url, "/")[2] }

// saved stores a version of the post. It then waits 30 seconds of fake time, and until the sender
// is idle.
func (w *outbox) saved(t *testing.T, page Page) {
	t.Helper()
	page.URL = "https://me.example/post"
	w.mu.Lock()
	w.page = page
	w.mu.Unlock()
	_ = w.store.ChangeSent(t.Context(), "me", 1, func(rows []Sent) []Sent {
		rows = slices.DeleteFunc(rows, func(o Sent) bool { return o.Target == "" })
		return append(rows, Sent{User: "me", Post: 1, DueAt: w.now()})
	})
	w.Wake()
	time.Sleep(30 * time.Second)
	synctest.Wait()
}

func (w *outbox) row(t *testing.T, target string) Sent {
	t.Helper()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, o := range w.store.rows {
		if o.Target == target {
			return o
		}
	}
	t.Fatalf("there is no row for %s in %+v", target, w.store.rows)
	return Sent{}
}

func (w *outbox) sentTo(target string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, to := range w.sent {
		if to == target {
			n++
		}
	}
	return n
}

func runOutbox(t *testing.T, f func(t *testing.T, w *outbox)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &outbox{store: &sentStore{}, active: map[string]int{}, answer: func(string) error { return nil }}
		w.discover = func(target string) (string, error) { return "https://" + hostPart(target) + "/endpoint", nil }
		w.Sender = &Sender{Store: w.store, Transport: w, Now: time.Now, Page: func(context.Context, string, int64) (Page, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.page, nil
		}}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		f(t, w)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

const one, two = "https://one.example/", "https://two.example/"

func TestWebmentionsAreSentAgainOnlyForChangedLinks(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		w.saved(t, Page{Targets: []string{one, two}, ReplyTo: two, Hash: "1"})
		w.saved(t, Page{Targets: []string{one, two}, ReplyTo: two, Hash: "1"})
		if w.sentTo(one) != 1 || w.sentTo(two) != 1 {
			t.Errorf("sent for the first version: %v", w.sent)
		}
		w.saved(t, Page{Targets: []string{one, two}, ReplyTo: two, Hash: "2"})
		if w.sentTo(one) != 1 || w.sentTo(two) != 2 {
			t.Errorf("sent after a changed reply: %v", w.sent)
		}
		w.saved(t, Page{Targets: []string{two}, ReplyTo: two, Hash: "2"})
		if o := w.row(t, one); w.sentTo(one) != 2 || !o.Removed || o.Result != Accepted {
			t.Errorf("after a removed link: %v %+v", w.sent, o)
		}
		w.saved(t, Page{Targets: []string{one, two}, ReplyTo: two, Hash: "2"})
		if o := w.row(t, one); w.sentTo(one) != 3 || o.Removed {
			t.Errorf("after the link came back: %v %+v", w.sent, o)
		}
		w.saved(t, Page{}) // the post is deleted
		if w.sentTo(one) != 4 || w.sentTo(two) != 3 {
			t.Errorf("after the deletion: %v", w.sent)
		}
	})
}

func TestTemporarilyFailedWebmentionIsRetriedThenAbandoned(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		w.answer = func(string) error {
			return &fault.Error{Code: fault.Unreadable, Msg: "busy", Err: &StatusError{Status: 503, Err: context.DeadlineExceeded}}
		}
		w.saved(t, Page{Targets: []string{one}, Hash: "1"})
		if o := w.row(t, one); o.Result != Pending || o.Status != 503 || o.Tries != 1 {
			t.Errorf("after the first attempt: %+v", o)
		}
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if o := w.row(t, one); w.sentTo(one) != 6 || o.Result != Failed || !o.DueAt.IsZero() {
			t.Errorf("%d attempts: %+v", w.sentTo(one), o)
		}
		w.answer = func(string) error { return nil }
		if n, err := w.Again(t.Context(), "me", 1); n != 1 || err != nil {
			t.Errorf("again: %d, %v", n, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if o := w.row(t, one); o.Result != Accepted {
			t.Errorf("after another attempt: %+v", o)
		}
	})
}

func TestWebmentionIsNotRetriedAfterRefusalOrMissingEndpoint(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		w.discover = func(target string) (string, error) {
			if target == one {
				return "", fault.New(fault.NotFound, "none")
			}
			return target, nil
		}
		w.answer = func(string) error { return fault.New(fault.Refused, "no") }
		w.saved(t, Page{Targets: []string{one, two}, Hash: "1"})
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if a, b := w.row(t, one), w.row(t, two); a.Result != NoEndpoint || b.Result != Failed || len(w.sent) != 1 {
			t.Errorf("%+v\n%+v\n%v", a, b, w.sent)
		}
		w.saved(t, Page{}) // a target that received nothing is not notified of the deletion
		if len(w.store.rows) != 0 || len(w.sent) != 1 {
			t.Errorf("after the deletion: %+v %v", w.store.rows, w.sent)
		}
	})
}

func TestWebmentionHostReceivesOneRequestAtATime(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		w.discover = func(string) (string, error) { return "https://shared.example/endpoint", nil }
		var all []string
		for _, host := range strings.Fields("a b c d e f") {
			all = append(all, "https://"+host+".example/", "https://"+host+".example/2")
		}
		w.saved(t, Page{Targets: all, Hash: "1"})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(w.sent) != len(all) || w.most != 1 {
			t.Errorf("%d of %d sent, %d at once", len(w.sent), len(all), w.most)
		}
	})
}

func TestChangeDuringAnAttemptCausesAnotherWebmention(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		again := true
		w.answer = func(string) error {
			if again { // the link is removed while the first request runs
				again = false
				w.mu.Lock()
				w.page.Targets = nil
				w.mu.Unlock()
				_ = w.store.ChangeSent(t.Context(), "me", 1, func(rows []Sent) []Sent {
					return append(rows, Sent{User: "me", Post: 1, DueAt: w.now()})
				})
				w.Wake()
				time.Sleep(5 * time.Second)
			}
			return nil
		}
		w.saved(t, Page{Targets: []string{one}, Hash: "1"})
		if o := w.row(t, one); w.sentTo(one) != 2 || !o.Removed || o.Accepted != "" || o.Result != Accepted {
			t.Errorf("%v %+v", w.sent, o)
		}
	})
}

func TestWebmentionsAreNotSentIfDisabled(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		w.saved(t, Page{Off: true, Targets: []string{one}, Hash: "1"})
		if len(w.sent) != 0 || len(w.store.rows) != 0 {
			t.Errorf("%v %+v", w.sent, w.store.rows)
		}
		w.answer = func(string) error { return fault.New(fault.Unreadable, "busy") }
		w.saved(t, Page{Targets: []string{one}, Hash: "1"})
		w.page.Off = true
		time.Sleep(72 * time.Hour)
		synctest.Wait()
		if o := w.row(t, one); len(w.sent) != 1 || o.Result != Failed {
			t.Errorf("%v %+v", w.sent, o)
		}
	})
}

func TestWebmentionToPostOfThisServerNeedsNoRequest(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		var local []string
		w.Own = func(url string) bool { return url == one }
		w.Local = func(_ context.Context, source, target string) error {
			local = append(local, source+" "+target)
			return nil
		}
		w.saved(t, Page{Targets: []string{one}, Hash: "1"})
		if o := w.row(t, one); len(w.sent) != 0 || len(local) != 1 || o.Result != Accepted || o.Status != 0 {
			t.Errorf("%v %v %+v", w.sent, local, o)
		}
	})
}

func TestNumberOfWebmentionsPerPostIsLimited(t *testing.T) {
	runOutbox(t, func(t *testing.T, w *outbox) {
		var all []string
		for i := range 2 * MaxTargets {
			all = append(all, "https://h"+strings.Repeat("x", i)+".example/")
		}
		w.saved(t, Page{Targets: all, Hash: "1"})
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(w.sent) != MaxTargets {
			t.Errorf("%d sent", len(w.sent))
		}
	})
}
