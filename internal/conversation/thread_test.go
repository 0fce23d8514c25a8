package conversation

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/fault"
)

// threadStores is a ThreadStore in memory. It records the offered mentions.
type threadStores struct {
	ThreadStore // provides the methods that the tests do not use
	mu          sync.Mutex
	work        map[string]Work
	done        map[string]time.Time
	offered     []Mention
	rules       []Rule
}

func (s *threadStores) ThreadSpot(context.Context, []int64) (Spot, error) { return Spot{}, nil }
func (s *threadStores) Ancestors(context.Context, int64) ([]Node, error)  { return nil, nil }
func (s *threadStores) PutEntry(context.Context, Entry) error             { return nil }

func (s *threadStores) OfferReply(_ context.Context, m Mention, _ Entry, _ int, change func(*Mention, []Rule, bool) Action) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&m, s.rules, true)
	s.offered = append(s.offered, m)
	return false, nil
}

func (s *threadStores) QueueThreadWork(_ context.Context, w Work, doneAfter time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.done[w.Name]; ok && at.After(doneAfter) {
		return nil
	}
	if _, ok := s.work[w.Name]; !ok {
		s.work[w.Name] = w
	}
	return nil
}

func (s *threadStores) ClaimThreadWork(_ context.Context, now, until time.Time, limit int, lease int64) (list []Work, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, w := range s.work {
		if !w.DueAt.After(now) && len(list) < limit {
			w.DueAt, w.Lease = until, lease
			s.work[name] = w
			list = append(list, w)
		}
	}
	return list, nil
}

func (s *threadStores) NextThreadWork(context.Context) (next time.Time, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.work {
		if next.IsZero() || w.DueAt.Before(next) {
			next = w.DueAt
		}
	}
	return next, nil
}

func (s *threadStores) SettleThreadWork(_ context.Context, w Work, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.DueAt.IsZero() {
		delete(s.work, w.Name)
		s.done[w.Name] = now
	} else {
		s.work[w.Name] = w
	}
	return nil
}

// threadItems is a river in which reader ann follows the feed 1.
type threadItems map[string]Found

func (i threadItems) FoundItem(_ context.Context, id int64) (Found, error) {
	return i[fmt.Sprint(id)], nil
}

func (i threadItems) NamedItem(_ context.Context, name string) (Found, error) {
	f, ok := i[name]
	if !ok {
		return f, fault.New(fault.NotFound, "none")
	}
	return f, nil
}

func (threadItems) FollowsSource(_ context.Context, reader string, source int64) (bool, error) {
	return reader == "ann" && source == 1, nil
}

func newTestThreads(items threadItems, comments func(url string) []Found) (*Threads, *threadStores, *[]string) {
	s := &threadStores{work: map[string]Work{}, done: map[string]time.Time{}}
	var read []string
	return &Threads{
		Store: s, Items: items, ReaderOf: func(user string) string { return user },
		Own: func(url string) (string, bool) { return strings.CutPrefix(url, "https://me.example") },
		Target: func(_ context.Context, url string) (string, int64, error) {
			if url != "https://me.example/ann/2026/11/28/x" {
				return "", 0, fault.New(fault.NotFound, "none")
			}
			return "ann", 1, nil
		},
		Comments: func(_ context.Context, url string) ([]Found, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			read = append(read, url)
			return comments(url), nil
		},
	}, s, &read
}

// TestCommentFeedsThatLinkToEachOtherAreReadOnce has comment feeds that link to each other and,
// without end, to new comment feeds.
//
// spec:cloudburst#thread-walk
func TestCommentFeedsThatLinkToEachOtherAreReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		threads, s, read := newTestThreads(threadItems{"https://you.example/1": {CommentsFeed: "https://you.example/c/0"}}, func(url string) (all []Found) {
			for i := range 3 * MaxCommentFeed {
				all = append(all, Found{URL: fmt.Sprint(url, "/", i), Parents: []string{"https://you.example/1"}, CommentsFeed: fmt.Sprint(url, "/", i, "/c")})
			}
			return append(all, Found{URL: url, Parents: []string{url}, CommentsFeed: url})
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- threads.Run(ctx) }()
		for range 2 { // the second call comes too early for another read
			if err := threads.Open(ctx, "https://you.example/1"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if n := len(*read); n != 1+maxFurther+maxFurther*maxFurther {
			t.Errorf("%d feeds were read", n)
		}
		if len(s.work) != 0 {
			t.Errorf("%d feeds are pending", len(s.work))
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// spec:cloudburst#thread-moderation
func TestOnlyRepliesOfKnownAuthorsArePublishedWithoutApproval(t *testing.T) {
	t.Parallel()
	parents := []string{"https://me.example/ann/2026/11/28/x"}
	trust := Rule{Host: "you.example", Author: author, Verdict: Trust}
	block := Rule{Host: "you.example", Author: EveryAuthor, Verdict: Block}
	for name, c := range map[string]struct {
		found Found
		rules []Rule
		want  State
	}{
		"a followed feed":                  {Found{Item: 1, Source: 1}, nil, Approved},
		"another feed":                     {Found{Item: 1, Source: 2}, nil, Waiting},
		"a private feed":                   {Found{Item: 1, Source: 1, Private: true}, nil, Waiting},
		"a trusted author":                 {Found{Item: 1, Source: 2}, []Rule{trust}, Approved},
		"a blocked host":                   {Found{Item: 1, Source: 1}, []Rule{trust, block}, Rejected},
		"a feed of comments":               {Found{Via: "https://you.example/c"}, nil, Waiting},
		"a trusted author in it":           {Found{Via: "https://you.example/c"}, []Rule{trust}, Approved},
		"a trusted author in another's":    {Found{Via: "https://other.example/c"}, []Rule{trust}, Waiting},
		"a blocked host in another's feed": {Found{Via: "https://other.example/c"}, []Rule{block}, Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			threads, s, _ := newTestThreads(threadItems{}, nil)
			s.rules = c.rules
			threads.init()
			c.found.URL, c.found.Author, c.found.Parents = "https://you.example/reply", author, parents
			if err := threads.offer(t.Context(), c.found); err != nil || len(s.offered) != 1 {
				t.Fatalf("%v, %d offers", err, len(s.offered))
			}
			if got := s.offered[0]; got.State != c.want || got.User != "ann" || got.Post != 1 {
				t.Errorf("%+v, want the state %s", got, c.want)
			}
		})
	}
}

func TestItemsThatReplyToThemselvesAreNotReplies(t *testing.T) {
	t.Parallel()
	threads, s, _ := newTestThreads(threadItems{}, nil)
	threads.init()
	for _, f := range []Found{
		{URL: "https://you.example/a", Parents: []string{"https://you.example/a"}},
		{URL: "https://you.example/a", GUID: "g", Parents: []string{"g"}},
		{URL: "https://me.example/ann/2026/11/28/y", Parents: []string{"https://me.example/ann/2026/11/28/x"}},
		{URL: "https://you.example/a"},
	} {
		if err := threads.offer(t.Context(), f); err != nil {
			t.Error(err)
		}
	}
	if len(s.offered) != 0 {
		t.Errorf("offered %+v", s.offered)
	}
}
