package weblogs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/protocol/weblogs"

	"github.com/google/go-cmp/cmp"
)

// lists is a server of lists without a network.
type lists struct {
	mu     sync.Mutex
	begun  time.Time
	rows   []weblogs.Weblog // in order of arrival
	asked  []string         // minute and path of each received request
	status func(path string) int
	after  string // value of Retry-After
	unit   time.Duration
	raw    string // response that is sent instead of the lists; "": none
	pad    string // appended to each ETag
}

func (l *lists) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append([]weblogs.Weblog{{Name: name, URL: "http://" + name + ".example/", When: time.Now()}}, l.rows...)
}

func (l *lists) Do(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, fmt.Sprintf("%d %s", int(time.Since(l.begun).Minutes()), r.URL.Path))
	answer := func(status int, body string) (*http.Response, error) {
		h := http.Header{"Retry-After": {l.after}}
		if status == 200 {
			h.Set("ETag", fmt.Sprintf(`"%s%d%s"`, r.URL.Path, len(l.rows), l.pad))
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	if l.status != nil {
		if s := l.status(r.URL.Path); s != 200 {
			return answer(s, "")
		}
	}
	if l.raw != "" {
		return answer(200, l.raw)
	}
	if len(l.rows) > 0 && r.Header.Get("If-None-Match") == fmt.Sprintf(`"%s%d%s"`, r.URL.Path, len(l.rows), l.pad) {
		l.asked[len(l.asked)-1] += " same"
		return answer(304, "")
	}
	window := time.Hour
	if strings.HasSuffix(r.URL.Path, "shortChanges.xml") {
		window = 5 * time.Minute
	}
	c := weblogs.Changes{Updated: time.Now()}
	for _, w := range l.rows {
		if time.Since(w.When) <= window {
			c.List = append(c.List, w)
		}
	}
	return answer(200, string(c.Append(nil, l.unit)))
}

func TestFollowerReadsFiveMinuteListAndReportsEachChangeOnce(t *testing.T) {
	t.Parallel()
	for _, unit := range []time.Duration{time.Minute, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l := &lists{begun: time.Now(), unit: unit}
			var got []string
			f := weblogs.Follower{URL: "http://rpc.example/x/changes.xml", HTTP: l, Unit: unit, OnChange: func(_ context.Context, w weblogs.Weblog) {
				got = append(got, fmt.Sprintf("%d %s", int(time.Since(l.begun).Minutes()), w.Name))
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 31*time.Minute)
			defer cancel()
			go func() {
				for i, at := range []time.Duration{30 * time.Second, 270 * time.Second, 299 * time.Second, 9 * time.Minute, 21 * time.Minute} {
					time.Sleep(time.Until(l.begun.Add(at))) // advances the clock of the synctest bubble
					l.add(fmt.Sprintf("site%d", i%4))
				}
			}()
			if err := f.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			want := []string{"5 site0", "5 site1", "5 site2", "10 site3", "25 site0"}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", unit, d)
			}
			short := "/x/shortChanges.xml"
			asked := []string{"0 " + short, "5 " + short, "10 " + short, "15 " + short + " same", "20 " + short + " same", "25 " + short, "25 /x/changes.xml", "30 " + short + " same"}
			if d := cmp.Diff(asked, l.asked); d != "" {
				t.Errorf("%s: %s", unit, d)
			}
		})
	}
}

func TestFollowerDoesNotSendAnOversizedETag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lists{begun: time.Now(), pad: strings.Repeat("x", 1<<10)}
		l.add("site")
		f := weblogs.Follower{URL: "http://rpc.example/changes.xml", HTTP: l, OnChange: func(context.Context, weblogs.Weblog) {}}
		ctx, cancel := context.WithTimeout(t.Context(), 14*time.Minute)
		defer cancel()
		if err := f.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if asked := strings.Join(l.asked, "\n"); strings.Contains(asked, "same") || !strings.Contains(asked, "10 /shortChanges.xml") {
			t.Errorf("requests:\n%s", asked)
		}
	})
}

func TestFollowerWithBackfillReportsOlderChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lists{begun: time.Now()}
		l.add("old")
		time.Sleep(40 * time.Minute)
		l.add("new")
		l.begun = time.Now()
		var got []string
		f := weblogs.Follower{URL: "http://rpc.example/changes.xml", HTTP: l, Backfill: true, OnChange: func(_ context.Context, w weblogs.Weblog) { got = append(got, w.Name) }}
		for i, want := range []int{2, 0} {
			if n, err := f.Round(t.Context()); err != nil || n != want {
				t.Errorf("round %d: %d, %v", i, n, err)
			}
		}
		if d := cmp.Diff([]string{"old", "new"}, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"0 /changes.xml", "0 /shortChanges.xml"}, l.asked); d != "" {
			t.Error(d)
		}
	})
}

func TestFollowerReadsHourlyListAfterMissedPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lists{begun: time.Now()}
		l.add("first")
		var got []string
		f := weblogs.Follower{URL: "http://rpc.example/changes.xml", HTTP: l, OnChange: func(_ context.Context, w weblogs.Weblog) { got = append(got, w.Name) }}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
		defer cancel()
		go func() {
			time.Sleep(time.Minute)
			l.mu.Lock()
			l.status = func(string) int { return 503 }
			l.mu.Unlock()
			time.Sleep(7 * time.Minute)
			l.add("meanwhile")
			time.Sleep(10 * time.Minute)
			l.mu.Lock()
			l.status = nil
			l.mu.Unlock()
		}()
		_ = f.Run(ctx)
		if d := cmp.Diff([]string{"first", "meanwhile"}, got); d != "" {
			t.Error(d)
		}
	})
}

func TestFollowerBacksOffAfterErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after string
		raw   string
		want  []string
	}{
		{"503", "", "", []string{"10m0s", "20m0s", "40m0s", "1h0m0s", "1h0m0s"}},
		{"503 with Retry-After", "7200", "", []string{"2h0m0s", "2h0m0s", "2h0m0s"}},
		{"503 with a Retry-After of a week", "604800", "", []string{"6h0m0s"}},
		{"503 with a short Retry-After", "1", "", []string{"10m0s", "20m0s", "40m0s"}},
		{"another document", "", "<html>sorry</html>", []string{"10m0s", "20m0s", "40m0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &lists{begun: time.Now(), after: c.after, raw: c.raw}
				if c.raw == "" {
					l.status = func(string) int { return 503 }
				}
				var waits []string
				f := weblogs.Follower{URL: "http://rpc.example/changes.xml", HTTP: l, OnError: func(err error, wait time.Duration) {
					if err == nil {
						t.Error("OnError was not called")
					}
					waits = append(waits, wait.String())
				}}
				ctx, cancel := context.WithTimeout(t.Context(), 6*time.Hour-time.Minute)
				defer cancel()
				_ = f.Run(ctx)
				if d := cmp.Diff(c.want, waits[:min(len(waits), len(c.want))]); d != "" {
					t.Error(d)
				}
				if len(l.asked) != len(waits) {
					t.Errorf("%d requests, %d failures", len(l.asked), len(waits))
				}
			})
		})
	}
}

func TestFollowerPollsHourlyListLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lists{begun: time.Now(), status: func(path string) int {
			if path == "/shortChanges.xml" {
				return 404
			}
			return 200
		}}
		l.add("one")
		n := 0
		f := weblogs.Follower{URL: "http://rpc.example/changes.xml", HTTP: l, OnChange: func(context.Context, weblogs.Weblog) { n++ }}
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Minute)
		defer cancel()
		_ = f.Run(ctx)
		if d := cmp.Diff([]string{"0 /shortChanges.xml", "0 /changes.xml", "30 /changes.xml same", "60 /changes.xml same"}, l.asked); d != "" || n != 1 {
			t.Errorf("%d rows\n%s", n, d)
		}
	})
}

func TestFollowerAcceptsAnyDocumentName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lists{begun: time.Now()}
		l.add("one")
		f := weblogs.Follower{URL: "http://rpc.example/mine.xml?x=1", HTTP: l}
		if n, err := f.Round(t.Context()); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if d := cmp.Diff([]string{"0 /mine.xml"}, l.asked); d != "" {
			t.Error(d)
		}
	})
}
