package readhttp_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
	"cloudburst/protocol/fever"
	"cloudburst/protocol/greader"
)

// scripts lists the recorded sessions of apps.
func scripts(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/apps/*.txt")
	if err != nil || len(names) < 8 {
		t.Fatal(names, err)
	}
	return names
}

func TestReadingAppsSyncWithSampleItems(t *testing.T) {
	t.Parallel()
	for _, name := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			newAppHarness(t, faked).play(name)
		})
	}
}

func TestReadingAppsSyncWithTheRiver(t *testing.T) {
	t.Parallel()
	for _, name := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			newAppHarness(t, real).play(name)
		})
	}
}

func TestPythonClientSyncsByFeverAndGoogleReaderAPI(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	w := newAppHarness(t, faked)
	out, err := exec.CommandContext(t.Context(), "python3", "testdata/clients/apps_client.py", w.srv.URL, goodPassword, w.token).CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "ok") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestTwoThousandItemsAreSyncedWithFewQueries(t *testing.T) {
	t.Parallel()
	var f *fakeRiver
	w := newAppHarness(t, func(w *appHarness) arriving { f = faked(w).(*fakeRiver); return f })
	start := w.clock.now()
	for i := range 2000 {
		w.feeds[newsURL].add(0, start.Add(-time.Duration(i)*time.Second))
	}
	w.river.arrived(newsURL)
	w.clock.wait(10 * time.Second)
	ctx := t.Context()
	c := w.google()
	f.asked = 0
	refs, next, err := c.IDs(ctx, greader.Query{N: 10_000, Exclude: []greader.Stream{greader.State(greader.Read)}})
	w.must(err)
	if len(refs) != 2006 || next != "" || f.asked != 1 {
		t.Fatalf("%d ids, %q, %d queries", len(refs), next, f.asked)
	}
	var ids []greader.ItemID
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	f.asked = 0
	items, err := c.Lookup(ctx, ids...)
	w.must(err)
	if len(items) != 2006 || f.asked != 21 {
		t.Errorf("%d items in %d queries", len(items), f.asked)
	}
	f.asked = 0
	w.must(c.Mark(ctx, greader.Read, true, ids[6:]...))
	if counts, _ := c.Unread(ctx); counts["user/-/state/com.google/reading-list"] != 6 || f.asked != 2 {
		t.Errorf("%v in %d queries", counts, f.asked)
	}
	f.asked = 0
	v, seen := w.fever(), 0
	for since := int64(0); ; {
		a, err := v.Send(ctx, fmt.Sprintf("items&since_id=%d", since), nil)
		w.must(err)
		if len(a.Items) == 0 {
			break
		}
		seen += len(a.Items)
		since = a.Items[len(a.Items)-1].ID
	}
	if seen != 2006 || f.asked != 42 {
		t.Errorf("%d items in %d queries", seen, f.asked)
	}
}

// TestUsersCannotReadOrMarkItemsOfOtherUsers requests everything of bob as alice, with numbers that
// alice cannot know.
func TestUsersCannotReadOrMarkItemsOfOtherUsers(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	ctx := t.Context()
	entries, err := w.river.Items(ctx, river.ItemQuery{Reader: "reader of bob"})
	w.must(err)
	if len(entries) != 3 {
		t.Fatal(len(entries))
	}
	c, v := w.google(), w.fever()
	for _, e := range entries {
		id := greader.ItemID(e.First)
		if list, err := c.Lookup(ctx, id); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
		w.must(c.Mark(ctx, greader.Read, true, id))
		w.must(c.Mark(ctx, greader.Starred, true, id))
		a, err := v.Send(ctx, fmt.Sprintf("items&with_ids=%d", id), nil)
		if w.must(err); len(a.Items) != 0 {
			t.Errorf("%+v", a.Items)
		}
		for _, as := range []string{"read", "saved"} {
			_, err = v.Mark(ctx, "item", as, int64(id), time.Time{})
			w.must(err)
		}
	}
	feed := fmt.Sprintf("feed/%d", entries[0].SourceID)
	stream := greader.Feed(strings.TrimPrefix(feed, "feed/"))
	for _, q := range []greader.Query{{Stream: stream}, {Stream: greader.Feed(bobURL)}, {Stream: stream, Continuation: "99999999999999-1"}, {Include: []greader.Stream{stream}}} {
		list, _, err := c.Contents(ctx, q)
		if w.must(err); len(list) != 0 {
			t.Errorf("%v: %d items", q, len(list))
		}
	}
	w.must(c.MarkAllRead(ctx, stream, time.Time{}))
	var e *greader.Error
	for _, err := range []error{c.Unsubscribe(ctx, feed), c.Edit(ctx, feed, "mine", nil, nil), c.MarkAllRead(ctx, greader.Feed(bobURL), time.Time{})} {
		if !errors.As(err, &e) || e.Status != http.StatusNotFound {
			t.Error(err)
		}
	}
	entries, err = w.river.Items(ctx, river.ItemQuery{Reader: "reader of bob"})
	w.must(err)
	for _, e := range entries {
		if e.Read || e.Starred {
			t.Errorf("%+v", e.Mark)
		}
	}
	subs, err := w.river.Subscriptions(ctx, river.SubscriptionQuery{Reader: "reader of bob"})
	if w.must(err); len(subs) != 1 || subs[0].Title != "" {
		t.Errorf("%+v", subs)
	}
}

func TestReadingAppIsSignedInWhilePasswordIsValid(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	ctx := t.Context()
	in := func(c *greader.Client, want error) {
		t.Helper()
		if _, err := c.UserInfo(ctx); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	byPassword, byToken := w.google(), &greader.Client{Base: w.srv.URL + "/api/greader.php"}
	w.must(byToken.Login(ctx, "alice", w.token))
	for _, c := range []*greader.Client{byPassword, byToken} {
		in(c, nil)
		if strings.Contains(c.Auth, goodPassword) {
			t.Error("the password is sent with every request")
		}
	}
	if err := (&greader.Client{Base: w.srv.URL}).Login(ctx, "bob", w.token); !errors.Is(err, greader.ErrUnauthorized) {
		t.Errorf("alice's token let bob in: %v", err)
	}
	editor, _, err := w.accounts.NewToken(ctx, "alice", "editor", []string{"update"})
	w.must(err)
	var e *greader.Error
	if err := (&greader.Client{Base: w.srv.URL}).Login(ctx, "alice", editor); !errors.As(err, &e) || e.Status != http.StatusForbidden {
		t.Error(err)
	}
	w.must(w.accounts.SetPassword(ctx, "alice", "quite another password"))
	in(byPassword, greader.ErrUnauthorized)
	in(byToken, nil)
	list, err := w.accounts.Tokens(ctx, "alice")
	w.must(err)
	w.must(w.accounts.RevokeToken(ctx, "alice", list[0].ID))
	in(byToken, greader.ErrUnauthorized)
	if _, err := w.fever().Send(ctx, "groups", nil); !errors.Is(err, fever.ErrKey) {
		t.Error(err)
	}
}

func TestSignInAttemptsOfReadingAppsShareOneLimit(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	ctx := t.Context()
	good := w.google()
	for i := range 20 {
		bad := w.fever()
		bad.Key = fever.Key("alice", fmt.Sprint(i))
		if _, err := bad.Send(ctx, "items", nil); !errors.Is(err, fever.ErrKey) {
			t.Fatal(i, err)
		}
	}
	bad := w.fever()
	bad.Key = fever.Key("alice", "guess")
	var f *fever.Error
	if _, err := bad.Send(ctx, "items", nil); !errors.As(err, &f) || f.Status != http.StatusTooManyRequests {
		t.Error(err)
	}
	var g *greader.Error
	worse := &greader.Client{Base: w.srv.URL}
	if err := worse.Login(ctx, "bob", goodPassword); !errors.As(err, &g) || g.Status != http.StatusTooManyRequests || g.RetryAfter == 0 {
		t.Error(err)
	}
	worse.Auth = "alice/" + strings.Repeat("0", 64)
	if _, err := worse.UserInfo(ctx); !errors.As(err, &g) || g.Status != http.StatusTooManyRequests {
		t.Error(err)
	}
	if _, err := good.UserInfo(ctx); err != nil { // apps that are signed in stay signed in
		t.Error(err)
	}
	if _, err := w.fever().Send(ctx, "groups", nil); err != nil {
		t.Error(err)
	}
}

func TestResponsesAreCompressedIfAccepted(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	c := w.google()
	get := func(path, encoding string) (*http.Response, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.srv.URL+path, nil)
		w.must(err)
		r.Header.Set("Authorization", "GoogleLogin auth="+c.Auth)
		r.Header.Set("Accept-Encoding", encoding)
		resp, err := w.srv.Client().Do(r)
		w.must(err)
		defer resp.Body.Close()
		var in io.Reader = resp.Body
		if resp.Header.Get("Content-Encoding") == "gzip" {
			in, err = gzip.NewReader(resp.Body)
			w.must(err)
		}
		b, err := io.ReadAll(in)
		w.must(err)
		return resp, b
	}
	const path = "/reader/api/0/stream/contents?n=6"
	plain, want := get(path, "identity")
	compress, got := get(path, "br, gzip")
	if plain.Header.Get("Content-Encoding") != "" || compress.Header.Get("Content-Encoding") != "gzip" || string(got) != string(want) || !json.Valid(got) {
		t.Errorf("%v %v\n%s", plain.Header, compress.Header, got)
	}
	if small, b := get("/reader/api/0/token", "gzip"); small.Header.Get("Content-Encoding") != "" || len(b) != 57 {
		t.Errorf("%v %s", small.Header, b)
	}
	if no, b := get("/reader/api/0/nothing", "gzip"); no.StatusCode != http.StatusNotFound || len(b) == 0 {
		t.Errorf("%v %s", no.Status, b)
	}
}

func TestPagesOfFilteredStreamContainEachItemOnce(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	w.arrive(newsURL, 120)
	w.arrive(podURL, 150)
	c := w.google()
	ctx := t.Context()
	all, _, err := c.IDs(ctx, greader.Query{N: 10_000})
	w.must(err)
	w.must(c.Mark(ctx, greader.Starred, true, all[10].ID, all[200].ID))
	news := greader.Feed(newsURL)
	for name, q := range map[string]greader.Query{
		"276": {}, "123": {Stream: news}, "153": {Exclude: []greader.Stream{news}}, "2": {Stream: greader.State(greader.Starred)},
		"274": {Exclude: []greader.Stream{greader.State(greader.Starred)}}, "0": {Include: []greader.Stream{greader.State(greader.Read)}},
		"0 ": {Stream: greader.Label("Nobody's")}, "123 ": {Stream: greader.Label("Daily")}, "153 ": {Exclude: []greader.Stream{greader.Label("Daily")}},
		"270": {After: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC)}, "6": {Before: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC)},
		"0  ": {Stream: greader.State(greader.Broadcast)}, "276 ": {Stream: greader.State(greader.KeptUnread)}, "0   ": {Stream: greader.Feed("http://unknown.test/")},
	} {
		for _, q.Oldest = range []bool{false, true} {
			for _, q.N = range []int{7, 100, 1000} {
				var seen []greader.ItemID
				q.Continuation = ""
				for range 100 {
					list, next, err := c.IDs(ctx, q)
					w.must(err)
					for _, r := range list {
						seen = append(seen, r.ID)
					}
					if q.Continuation = next; next == "" {
						break
					}
				}
				n := len(seen)
				slices.Sort(seen)
				if fmt.Sprint(n) != strings.TrimSpace(name) || len(slices.Compact(seen)) != n || q.Continuation != "" {
					t.Errorf("%+v: %d items, want %s", q, n, name)
				}
			}
		}
	}
	var e *greader.Error
	for _, cont := range []string{"x", "-1", "1-x", "0", "1-2-3"} {
		if _, _, err := c.IDs(ctx, greader.Query{Continuation: cont}); !errors.As(err, &e) || e.Status != http.StatusBadRequest {
			t.Errorf("%q: %v", cont, err)
		}
	}
}

func TestFeverItemsAreFilteredByFeedAndGroup(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	ctx, v := t.Context(), w.fever()
	a, err := v.Send(ctx, "feeds&groups", nil)
	w.must(err)
	pod, daily := a.Feeds[1].ID, a.Groups[0].ID
	for query, want := range map[string]int{
		fmt.Sprintf("items&feed_ids=%d", pod): 3, fmt.Sprintf("items&group_ids=%d", daily): 3,
		fmt.Sprintf("items&feed_ids=%d&group_ids=%d", pod, daily): 6, "items&feed_ids=5": 0, "items&group_ids=x": 0,
	} {
		a, err := v.Send(ctx, query, nil)
		if w.must(err); len(a.Items) != want {
			t.Errorf("%s: %d", query, len(a.Items))
		}
	}
	// A newly added feed has its number immediately.
	w.follow("alice", newURL)
	w.clock.wait(6 * time.Second)
	if a, err = v.Send(ctx, "items", nil); err != nil || len(a.Items) != 9 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := v.Send(ctx, "", url.Values{"mark": {"group"}, "as": {"read"}, "id": {fmt.Sprint(daily)}}); err != nil {
		t.Error(err)
	}
	if a, err = v.Send(ctx, "unread_item_ids", nil); err != nil || len(*a.UnreadItems) != 6 {
		t.Errorf("%+v, %v", a, err)
	}
}

// Items that arrive at the same time can be stored in another order than that of their numbers.
func TestItemsStoredOutOfOrderAreNotSkipped(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	ctx, c, v := t.Context(), w.google(), w.fever()
	since, last := w.clock.now(), int64(0)
	look := func(items, byGoogle int) {
		t.Helper()
		a, err := v.Send(ctx, fmt.Sprintf("items&since_id=%d", last), nil)
		w.must(err)
		list, _, err := c.Contents(ctx, greader.Query{After: since})
		w.must(err)
		if len(a.Items) != items || len(list) != byGoogle {
			t.Errorf("%d and %d items, want %d and %d", len(a.Items), len(list), items, byGoogle)
		}
		for _, it := range a.Items {
			last = it.ID
		}
	}
	look(6, 0)
	w.feeds[newsURL].add(0, w.clock.now())
	w.river.arrived(newsURL)
	w.clock.wait(4 * time.Second)
	look(0, 0)
	if list, _, err := c.Contents(ctx, greader.Query{Stream: greader.Feed(newsURL), After: since}); err != nil || len(list) != 1 {
		t.Errorf("of the feed itself: %v, %v", list, err)
	}
	w.clock.wait(2 * time.Second)
	look(1, 1)
	look(0, 1)
}

// TestReadingAppsReceiveTheFullText uses items without titles, like short posts.
func TestReadingAppsReceiveTheFullText(t *testing.T) {
	t.Parallel()
	w := newAppHarness(t, faked)
	w.feeds[newsURL].items = append(w.feeds[newsURL].items, itemDef{guid: "urn:test:full", title: "Whole", html: "<p>A summary.</p>", date: w.clock.now()})
	w.river.arrived(newsURL)
	w.clock.wait(10 * time.Second)
	fake := w.river.(*fakeRiver)
	for _, want := range []string{"<p>A summary.</p>", "<p>The whole article.</p>"} {
		items, _, err := w.google().Contents(t.Context(), greader.Query{N: 100})
		w.must(err)
		hot, err := w.fever().Send(t.Context(), "items", nil)
		w.must(err)
		found := 0
		for _, it := range items {
			if it.Title == "Whole" && it.Summary.Content == want {
				found++
			}
		}
		for _, it := range hot.Items {
			if it.Title == "Whole" && it.HTML == want {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%d of the two APIs have %s", found, want)
		}
		fake.full = map[string]string{"Whole": "<p>The whole article.</p>"}
	}
}

func TestReadingAppsReceiveTitleAndLinkForItemsWithoutThem(t *testing.T) {
	t.Parallel()
	const long = "A short post without a title, of more than eighty characters, so that it has to end before this."
	for name, open := range map[string]func(*appHarness) arriving{"faked": faked, "real": real} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newAppHarness(t, open)
			at := w.clock.now()
			for i, it := range []itemDef{
				{guid: "urn:test:a", html: "<p>" + long + "</p>"},
				{guid: "urn:test:b", html: "<p>Short &amp; good.</p>", link: "http://new.test/b"},
				{guid: "urn:test:c", enclosure: river.Enclosure{URL: "http://feeds.test/talks/12.mp3", Type: "audio/mpeg", Length: 1}},
			} {
				it.date = at.Add(time.Duration(i) * time.Second)
				w.feeds[newsURL].items = append(w.feeds[newsURL].items, it)
			}
			w.river.arrived(newsURL)
			w.clock.wait(10 * time.Second)
			items, _, err := w.google().Contents(t.Context(), greader.Query{N: 100})
			w.must(err)
			got := map[string][2]string{}
			for _, it := range items {
				if it.Title == "" || len(it.Canonical) != 1 || len(it.Alternate) != 1 || it.Canonical[0].Href == "" || it.Alternate[0].Href == "" {
					t.Errorf("%+v", it)
				}
				got[it.Title] = [2]string{it.Canonical[0].Href, it.Summary.Content}
			}
			for title, link := range map[string]string{
				"A short post without a title, of more than eighty characters, so that it has…": "https://cloud.test/river/item/",
				"12.mp3": "http://feeds.test/talks/12.mp3",
			} {
				if !strings.HasPrefix(got[title][0], link) {
					t.Errorf("%q leads to %q; there are %q", title, got[title][0], got)
				}
			}
			hot, err := w.fever().Send(t.Context(), "items", nil)
			w.must(err)
			for _, it := range hot.Items {
				if _, ok := got[it.Title]; !ok {
					t.Errorf("the API of Fever has %q, that of Google Reader %q", it.Title, got)
				}
			}
			for title, of := range got {
				if of[0] == "http://new.test/b" && title != "Short & good." {
					t.Errorf("%q leads to %q", title, of[0])
				}
			}
		})
	}
}
