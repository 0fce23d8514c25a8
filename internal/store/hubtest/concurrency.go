package hubtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func concurrencyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ConcurrentCallsReturnTheirOwnResults": manyAtOnce,
		"FailedCallDoesNotAffectOthers":        oneFails,
		"ConcurrentChecksMakeOneVersion":       checksAtOnce,
		"ConcurrentClaimsTakeEachRowOnce":      func(t *testing.T, e *env) { Claims(t, e.Store, e.Store) },
		"CancelledCallWritesNothing":           cancelled,
		"ReadersSeeWholeTransactions":          wholeTransactions,
		"SweepKeepsTopicOfNewSubscriber":       sweepRace,
		"SweepKeepsContentToDeliver":           contentRace,
		"ClosedStoreReturnsErrors":             closedStore,
	}
}

func manyAtOnce(t *testing.T, e *env) {
	const callers, each = 256, 4
	var group sync.WaitGroup
	errs := make(chan error, callers*each)
	for c := range callers {
		group.Go(func() {
			for i := range each {
				s := e.sub(fmt.Sprint(feed, c%5), fmt.Sprintf("http://127.0.0.1/%d/%d", c, i))
				ev := event.Event{Node: int64(c + 1), Seq: int64(i + 1), At: e.Now, Kind: event.KindRegister}
				errs <- e.Subscribe(e.Ctx, []string{fmt.Sprint(feed, c%5)}, []hub.Subscription{s}, []event.Event{ev})
			}
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		storetest.Must(t, err)
	}
	got, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "topics, subscriptions, events", []int64{got.Topics, got.Subscriptions, got.Events}, []int64{5, callers * each, callers * each})
}

// oneFails mixes successful calls with calls that fail after they have written.
func oneFails(t *testing.T, e *env) {
	var group sync.WaitGroup
	errs := make([]error, 128)
	for i := range errs {
		group.Go(func() {
			s := e.sub(fmt.Sprint(feed, i), "http://127.0.0.1/1")
			named := []string{fmt.Sprint(feed, i)}
			if i%8 == 0 {
				other := e.sub("http://127.0.0.1/other", "http://127.0.0.1/1") // rejected: the topic is not in the list
				errs[i] = e.Subscribe(e.Ctx, named, []hub.Subscription{s, other}, nil)
				return
			}
			errs[i] = e.Subscribe(e.Ctx, named, []hub.Subscription{s}, nil)
		})
	}
	group.Wait()
	for i, err := range errs {
		if (err != nil) != (i%8 == 0) {
			t.Errorf("call %d: %v", i, err)
		}
		got, err := e.Followed(e.Ctx, hub.TopicID(fmt.Sprint(feed, i)), e.Now)
		storetest.Must(t, err)
		if i%8 != 0 { // a failed call for several topics may have written the rows of some topics
			storetest.Same(t, fmt.Sprint("stored ", i), got, true)
		}
	}
}

func checksAtOnce(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	var group sync.WaitGroup
	done, errs := make([]hub.Checked, 32), make([]error, 32)
	for i := range done {
		group.Go(func() {
			done[i], errs[i] = e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, StartedAt: e.Now, Now: e.Now, Changed: true,
				Hash: []byte{1}, Node: storetest.Node, ClaimShards: 1, ClaimUntil: e.In(lease)})
		})
	}
	group.Wait()
	won, claimed := 0, 0
	for i := range done {
		storetest.Must(t, errs[i])
		claimed += len(done[i].Claimed)
		if !done[i].Raced {
			won++
		}
	}
	storetest.Same(t, "won, claimed", []int{won, claimed}, []int{1, 1})
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "version", topic.Version, int64(1))
}

// Claims checks that two handles on one database never claim the same row twice.
func Claims(t *testing.T, a, b hub.Store) {
	e := newEnv(t, a)
	const total = 300
	for i := range total {
		f := fmt.Sprint(feed, i)
		s := e.sub(f, "http://127.0.0.1/1")
		s.NextAt = e.Now
		e.follow(t, f, s)
		e.change(t, f, 0)
		storetest.Must(t, e.RecordPing(e.Ctx, f, e.In(time.Second), e.Now, nil))
	}
	var mu sync.Mutex
	seen := map[string]int{}
	note := func(what string, id int64, epoch int64) {
		mu.Lock()
		defer mu.Unlock()
		seen[what]++
		seen[fmt.Sprint(what, id)]++
		if seen[fmt.Sprint(what, id)] > 1 || epoch > 1 {
			t.Errorf("%s %d was claimed twice", what, id)
		}
	}
	var group sync.WaitGroup
	for i := range 8 {
		s := []hub.Store{a, b}[i%2]
		group.Go(func() {
			for range total { // each round claims a row, unless none is left
				shards, err1 := s.ClaimShards(e.Ctx, storetest.Node, e.Now, e.In(lease), 7)
				retries, err2 := s.ClaimRetries(e.Ctx, e.Now, e.In(lease), 7, int64(i+1))
				checks, err3 := s.ClaimChecks(e.Ctx, e.Now, e.In(lease), 7)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Error(err)
					return
				}
				for _, p := range shards {
					note("shard", p.TopicID, p.Epoch)
				}
				for _, r := range retries {
					note("retry", r.TopicID, 0)
				}
				for _, c := range checks {
					note("check", c.ID, 0)
				}
				if won, err := s.ClaimTask(e.Ctx, "task", e.Now, e.Now, e.In(time.Hour)); err != nil || won {
					note("task", 0, 0)
				}
				if len(shards)+len(retries)+len(checks) == 0 {
					return
				}
			}
		})
	}
	group.Wait()
	storetest.Same(t, "claimed", []int{seen["shard"], seen["retry"], seen["check"], seen["task"]}, []int{total, total, total, 1})
}

func cancelled(t *testing.T, e *env) {
	s := e.sub(feed, "http://127.0.0.1/1")
	ctx, cancel := context.WithCancel(e.Ctx)
	cancel()
	for name, call := range map[string]func() error{
		"Subscribe":  func() error { return e.Subscribe(ctx, []string{feed}, []hub.Subscription{s}, nil) },
		"RecordPing": func() error { return e.RecordPing(ctx, feed, e.Now, e.Now, nil) },
		"Topics":     func() error { _, err := e.Topics(ctx, hub.TopicQuery{}); return err },
		"Ping":       func() error { return e.Ping(ctx) },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	got, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "counts", got, hub.Counts{})
}

// wholeTransactions reads one topic while its transactions run: each adds two subscriptions with
// their events, or a version with its content. Nothing on the way from a ping to a notification
// reads several topics at one moment, so a cluster keeps this promise per topic. On one database, it
// also holds for the counts of all topics.
func wholeTransactions(t *testing.T, e *env) {
	id, stop := hub.TopicID(feed), make(chan struct{})
	subscribe := func(i int) error {
		pair := []hub.Subscription{e.websub(feed, fmt.Sprintf("http://127.0.0.1/%d/a", i)), e.websub(feed, fmt.Sprintf("http://127.0.0.1/%d/b", i))}
		var events []event.Event
		for n := range pair {
			events = append(events, event.Event{Node: storetest.Node, Seq: int64(2*i + n + 1), At: e.Now, Kind: event.KindRegister, TopicID: id, Topic: feed})
		}
		return e.Subscribe(e.Ctx, []string{feed}, pair, events)
	}
	storetest.Must(t, subscribe(0))
	e.change(t, feed, 0)
	var writer sync.WaitGroup
	writer.Go(func() {
		defer close(stop)
		for i := 1; i < 100; i++ {
			_, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: id, URL: feed, Base: int64(i), StartedAt: e.Now, Now: e.Now, Changed: true, Body: fmt.Append(nil, i+1)})
			if err := errors.Join(err, subscribe(i)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	for reading := true; reading; {
		select {
		case <-stop:
			reading = false
		default:
		}
		topic, err := e.Topic(e.Ctx, id)
		storetest.Must(t, err)
		if topic.Version > 1 {
			content, err := e.Content(e.Ctx, id)
			storetest.Must(t, err)
			if content.Version < topic.Version || string(content.Body) != fmt.Sprint(content.Version) {
				t.Fatalf("the topic has version %d, its content is %q of version %d", topic.Version, content.Body, content.Version)
			}
		}
		events, err := e.Events(e.Ctx, hub.EventQuery{TopicID: id, Limit: 1000})
		storetest.Must(t, err)
		subs, err := e.Subscriptions(e.Ctx, hub.SubscriptionQuery{TopicID: id, Limit: 1000})
		storetest.Must(t, err)
		if len(events)%2 != 0 || len(subs)%2 != 0 || len(subs) < len(events) {
			t.Fatalf("%d events, and then %d subscriptions", len(events), len(subs))
		}
		if !e.Distributed() {
			got, err := e.Counts(e.Ctx, e.Now)
			storetest.Must(t, err)
			storetest.Same(t, "subscriptions and events", got.Subscriptions, got.Events)
		}
	}
}

func closedStore(t *testing.T, e *env) {
	storetest.Must(t, e.Close())
	storetest.Must(t, e.Close())
	if err := e.RecordPing(e.Ctx, feed, e.Now, e.Now, nil); err == nil {
		t.Error("a closed store accepts a ping")
	}
	if _, err := e.Topics(e.Ctx, hub.TopicQuery{}); err == nil {
		t.Error("a closed store lists topics")
	}
}

// contentRace sweeps unneeded contents while subscribers that want them come and go. Each
// subscriber must find the content of the next change.
func contentRace(t *testing.T, e *env) {
	whileSweeping(t, e, func(c int) error {
		feed := fmt.Sprint(feed, c%2) // two subscribers per topic
		s := e.websub(feed, fmt.Sprint("http://127.0.0.1/", c))
		if err := e.Subscribe(e.Ctx, []string{feed}, []hub.Subscription{s}, nil); err != nil {
			return err
		}
		topic, err := e.Topic(e.Ctx, s.TopicID)
		if err != nil || !topic.KeepContent {
			return fmt.Errorf("the topic of a WebSub subscription: %+v (%w)", topic, err)
		}
		checked, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: topic.ID, URL: feed, Base: topic.Version, StartedAt: e.Now, Now: e.Now,
			Changed: true, Body: []byte("x"), Node: storetest.Node, ClaimShards: 1, ClaimUntil: e.In(lease)})
		if err == nil && !checked.Raced { // otherwise the other caller's check was first
			content, wanted := e.Content(e.Ctx, topic.ID)
			if wanted != nil || content.Version < checked.Topic.Version {
				return fmt.Errorf("content of version %d, want %d (%w)", content.Version, checked.Topic.Version, wanted)
			}
		}
		for _, p := range checked.Claimed {
			if _, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true}); err != nil {
				return err
			}
		}
		_, gone := e.Unsubscribe(e.Ctx, []hub.Key{s.Key()}, nil)
		return errors.Join(err, gone)
	})
}

// sweepRace sweeps topics without subscribers while subscribers come and go. Each accepted
// subscriber must be notified of the next change.
func sweepRace(t *testing.T, e *env) {
	whileSweeping(t, e, func(c int) error {
		feed := fmt.Sprint(feed, c%2, "/", c)
		return followedOnce(e, feed, e.sub(feed, "http://127.0.0.1/1"))
	})
}

// whileSweeping runs do repeatedly from four callers while another one sweeps.
func whileSweeping(t *testing.T, e *env, do func(caller int) error) {
	t.Helper()
	var group sync.WaitGroup
	var done atomic.Bool
	for c := range 4 {
		group.Go(func() {
			for range 40 {
				if err := do(c); err != nil {
					t.Errorf("caller %d: %v", c, err)
					return
				}
			}
		})
	}
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for !done.Load() {
			if _, _, err := e.Sweep(e.Ctx, e.Now, 3, 100, e.In(time.Hour), nil); err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	done.Store(true)
	sweeper.Wait()
}

// followedOnce subscribes, changes the feed, delivers the shard and unsubscribes.
func followedOnce(e *env, feed string, s hub.Subscription) error {
	if err := e.Subscribe(e.Ctx, []string{feed}, []hub.Subscription{s}, nil); err != nil {
		return err
	}
	topic, err := e.Topic(e.Ctx, s.TopicID)
	if err != nil {
		return fmt.Errorf("the topic of a subscription: %w", err)
	}
	checked, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: topic.ID, URL: feed, Base: topic.Version, StartedAt: e.Now, Now: e.Now,
		Changed: true, Node: storetest.Node, ClaimShards: 1, ClaimUntil: e.In(lease)})
	if err != nil {
		return err
	}
	if checked.Raced || len(checked.Claimed) != 1 {
		return fmt.Errorf("a change of a followed topic returned %+v", checked)
	}
	page, err := e.Batch(e.Ctx, checked.Claimed[0], 0, e.Now, 10)
	if err != nil || len(page) != 1 {
		return fmt.Errorf("a page of %d, want the subscription (%w)", len(page), err)
	}
	if _, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: checked.Claimed[0], Now: e.Now, Finish: true}); err != nil {
		return err
	}
	gone, err := e.Unsubscribe(e.Ctx, []hub.Key{s.Key()}, nil)
	if err == nil && len(gone) != 1 {
		err = errors.New("the subscription no longer exists")
	}
	return err
}
