package river_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
)

func TestRemovalOfTheLastSubscriptionEndsPush(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.add(river.Request{URL: feedURL})
		a := h.add(river.Request{URL: feedURL, Reader: "bea"})
		if err := h.river.Remove(t.Context(), "ann", a.SourceID, 77); fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.Message(err), "77") || h.list("ann") == "" {
			t.Errorf("a feed that is not followed: %v", err)
		}
		if err := h.river.Remove(t.Context(), "ann", a.SourceID); err != nil || h.list("ann") != "" || len(h.push.left) != 0 {
			t.Errorf("%v %v", err, h.push.left)
		}
		if mine, err := h.river.Following(t.Context(), "ann"); err != nil || len(mine) != 0 {
			t.Errorf("%v %v", mine, err)
		}
		if err := h.river.Remove(t.Context(), "bea", a.SourceID); err != nil || !slices.Equal(h.push.left, []string{feedURL}) {
			t.Errorf("%v %v", err, h.push.left)
		}
		h.requests()
		h.advance(72 * time.Hour)
		if got := h.requestURLs(); got != "" {
			t.Errorf("requests without followers: %s", got)
		}
		if a := h.add(river.Request{URL: feedURL}); !a.New || a.Source.Items != 1 {
			t.Errorf("%+v", a)
		}
	})
}

func TestChangeOfASubscriptionIsAtomic(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL, Categories: []string{"Old"}})
		f, err := h.river.Change(t.Context(), "ann", a.SourceID, func(s *river.Subscription) error {
			s.Title, s.Categories, s.Interval, s.Reader, s.SourceID = " Mine ", []string{"b", " a ", "b"}, 10*time.Minute, "mallory", 1
			return nil
		})
		if err != nil || f.Title != "Mine" || !slices.Equal(f.Categories, []string{"a", "b"}) || f.Source.State.Interval != 10*time.Minute || f.Reader != "ann" {
			t.Errorf("%+v %v", f, err)
		}
		if wait := time.Until(f.Source.NextAt); wait > 12*time.Minute {
			t.Errorf("the next check is in %v", wait)
		}
		for name, change := range map[string]func(*river.Subscription){
			"title": func(s *river.Subscription) { s.Title = strings.Repeat("x", 201) }, "control": func(s *river.Subscription) { s.Title = "a\x07b" },
			"slash": func(s *river.Subscription) { s.Categories = []string{"a/b"} }, "many": func(s *river.Subscription) { s.Categories = strings.Fields(strings.Repeat("x ", 9) + letters(21)) },
			"short": func(s *river.Subscription) { s.Interval = 59 * time.Second }, "long": func(s *river.Subscription) { s.Interval = 31 * 24 * time.Hour },
		} {
			_, err := h.river.Change(t.Context(), "ann", a.SourceID, func(s *river.Subscription) error {
				s.Title = "half"
				change(s)
				return nil
			})
			if fault.CodeOf(err) != fault.Invalid || err == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := h.list("ann"); got != "Mine "+feedURL+" a|b own" {
			t.Error(got)
		}
		if _, err := h.river.Change(t.Context(), "bea", a.SourceID, func(*river.Subscription) error { return nil }); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func letters(n int) string {
	var out []string
	for i := range n {
		out = append(out, "c"+strconv.Itoa(i))
	}
	return strings.Join(out, " ")
}

func TestSubscriptionIsFoundByURLOrID(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL, Title: "The chalk log"})
		for _, what := range []string{feedURL, "feeds.test/rss.xml", "feed:" + feedURL, strconv.FormatInt(a.SourceID, 10), " HTTP://FEEDS.TEST/rss.xml#x "} {
			if f, err := h.river.Find(t.Context(), "ann", what); err != nil || f.SourceID != a.SourceID {
				t.Errorf("%q: %v", what, err)
			}
		}
		for what, like := range map[string]string{"http://feeds.test/other": "The chalk log", "chalk": "The chalk log", "7": "7", "http://x.test/": "", "": ""} {
			_, err := h.river.Find(t.Context(), "ann", what)
			if fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.Message(err), like) {
				t.Errorf("%q: %v", what, err)
			}
		}
		if _, err := h.river.Find(t.Context(), "bea", feedURL); fault.CodeOf(err) != fault.NotFound || strings.Contains(fault.Message(err), "chalk") {
			t.Error(err)
		}
	})
}

func TestUserCanReviveGoneAndFailingFeeds(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL})
		if _, err := h.river.Revive(t.Context(), "ann", a.SourceID); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("a healthy feed: %v", err)
		}
		h.serve(feedURL, status(410))
		h.advance(25 * time.Hour)
		if s := h.source(feedURL); s.State.Gone == nil {
			t.Fatalf("%+v", s.State)
		}
		h.serve(feedURL, doc(rss("", "b", "a")))
		h.requests()
		if _, err := h.river.Revive(t.Context(), "bea", a.SourceID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("by another user: %v", err)
		}
		if f, err := h.river.Revive(t.Context(), "ann", a.SourceID); err != nil || f.Source.State.Gone != nil {
			t.Errorf("%+v %v", f, err)
		}
		h.advance(time.Second)
		if got := h.requestURLs(); got != "feeds.test/rss.xml" || len(h.items(feedURL)) != 2 {
			t.Errorf("requests for %q, %d items", got, len(h.items(feedURL)))
		}
		h.serve(feedURL, status(500))
		h.advance(25 * time.Hour)
		if s := h.source(feedURL); s.State.Failures == 0 {
			t.Fatal("the feed does not fail")
		}
		for i, want := range []fault.Code{0, fault.TooMany} {
			_, err := h.river.Revive(t.Context(), "ann", a.SourceID)
			if (err == nil) != (i == 0) || err != nil && fault.CodeOf(err) != want {
				t.Errorf("time %d: %v", i, err)
			}
			h.advance(time.Second)
		}
	})
}

func TestUserCanUndoTheMoveOfAFeed(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.serve("http://new.test/feed", doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL})
		if _, err := h.river.Undo(t.Context(), "ann", a.SourceID); fault.CodeOf(err) != fault.Conflict {
			t.Error(err)
		}
		h.serve(feedURL, status(301, "Location", "http://new.test/feed"))
		h.advance(5 * 24 * time.Hour)
		f, err := h.river.Find(t.Context(), "ann", strconv.FormatInt(a.SourceID, 10))
		if err != nil || f.Source.URL != "http://new.test/feed" {
			t.Fatalf("%+v %v", f.Source, err)
		}
		f, err = h.river.Undo(t.Context(), "ann", a.SourceID)
		if err != nil || f.Source.URL != feedURL || !slices.Contains(h.push.left, "http://new.test/feed") {
			t.Errorf("%+v %v %v", f.Source, h.push.left, err)
		}
	})
}

func TestFeedThatMovesToAnotherFollowedFeedIsFollowedOnce(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		const to = "http://new.test/feed"
		h.serve(feedURL, doc(rss("", "a")))
		h.serve(to, doc(rss("", "a")))
		old := h.add(river.Request{URL: feedURL, Title: "Mine", Categories: []string{"C"}})
		other := h.add(river.Request{URL: to, Categories: []string{"B"}})
		h.add(river.Request{URL: feedURL, Reader: "bea"})
		if _, err := h.store.PutForwarding(t.Context(), forward.Forwarding{Reader: "ann", SourceID: old.SourceID}, 5); err != nil {
			t.Fatal(err)
		}
		h.serve(feedURL, status(301, "Location", to))
		h.advance(5 * 24 * time.Hour)
		if got := h.list("ann"); got != "Mine "+to+" B|C own" {
			t.Errorf("ann follows %q", got)
		}
		if list, err := h.store.Forwardings(t.Context(), "ann"); err != nil || len(list) != 1 || list[0].SourceID != other.SourceID {
			t.Errorf("%+v %v", list, err)
		}
		if f, err := h.river.Find(t.Context(), "bea", strconv.FormatInt(old.SourceID, 10)); err != nil || f.Source.URL != to {
			t.Errorf("bea follows %+v %v", f.Source, err)
		}
	})
}

func TestLoginMovesTheSubscriptionToAPrivateFeed(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		a := h.add(river.Request{URL: feedURL, Title: "Mine", Categories: []string{"C"}})
		h.add(river.Request{URL: feedURL, Reader: "bea"})
		h.serve(feedURL, locked("ann", "neu", rss("", "b", "a")))
		f, err := h.river.SetLogin(t.Context(), "ann", a.SourceID, river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "alt"})
		if err != nil || f.SourceID == a.SourceID || h.list("ann") != "Mine "+feedURL+" C own private" || h.list("bea") != "Feed "+feedURL {
			t.Fatalf("%v\n%s\n%s", err, h.list("ann"), h.list("bea"))
		}
		h.advance(time.Minute)
		mine := f.SourceID
		if f, err = h.river.Find(t.Context(), "ann", strconv.FormatInt(mine, 10)); err != nil || f.Source.State.Failure == nil {
			t.Errorf("with the wrong password: %+v %v", f.Source.State, err)
		}
		f, err = h.river.SetLogin(t.Context(), "ann", mine, river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "neu"})
		if err != nil || f.SourceID != mine {
			t.Errorf("%+v %v", f, err)
		}
		h.advance(time.Minute)
		if f, err = h.river.Find(t.Context(), "ann", strconv.FormatInt(mine, 10)); err != nil || f.Source.Items != 2 {
			t.Errorf("with the right one: %+v %v", f.Source, err)
		}
		f, err = h.river.SetLogin(t.Context(), "ann", mine, river.Login{})
		if err != nil || f.SourceID != a.SourceID || h.list("ann") != "Mine "+feedURL+" C own" {
			t.Errorf("%v\n%s", err, h.list("ann"))
		}
		if _, err := h.river.SetLogin(t.Context(), "ann", a.SourceID, river.Login{Kind: "x"}); fault.CodeOf(err) != fault.Invalid {
			t.Error(err)
		}
		if _, err := h.river.SetLogin(t.Context(), "cal", a.SourceID, river.Login{}); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

func TestForwardingsAndFiltersStayWithAFeedWhoseLoginChanges(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, locked("ann", "neu", rss("", "a")))
		id := h.add(river.Request{URL: feedURL, Login: river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "neu"}}).SourceID
		if _, err := h.store.PutForwarding(t.Context(), forward.Forwarding{Reader: "ann", SourceID: id}, 5); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.PutFilter(t.Context(), filter.Rule{Reader: "ann", SourceID: id}, 5); err != nil {
			t.Fatal(err)
		}
		for _, l := range []river.Login{{}, {Kind: river.LoginBasic, Name: "ann", Secret: "neu"}} {
			f, err := h.river.SetLogin(t.Context(), "ann", id, l)
			if err != nil || f.SourceID == id {
				t.Fatalf("the feed did not move: %v", err)
			}
			id = f.SourceID
			forwardings, err := h.store.Forwardings(t.Context(), "ann")
			if err != nil || len(forwardings) != 1 || forwardings[0].SourceID != id {
				t.Errorf("%+v %v", forwardings, err)
			}
			filters, err := h.store.Filters(t.Context(), "ann")
			if err != nil || len(filters) != 1 || filters[0].SourceID != id {
				t.Errorf("%+v %v", filters, err)
			}
		}
	})
}

func TestCategoriesAreCreatedRenamedMergedAndRemoved(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "a")))
		h.add(river.Request{URL: feedURL, Categories: []string{"A", "B"}})
		put := func(name string, public bool) error { return h.river.PutCategory(t.Context(), "ann", name, public) }
		names := func() string {
			list, err := h.river.Categories(t.Context(), "ann", false)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, c := range list {
				s := c.Name + ":" + strconv.FormatInt(c.Sources, 10)
				if c.Public {
					s += "!"
				}
				out = append(out, s)
			}
			return strings.Join(out, " ")
		}
		if err := put(" Empty ", true); err != nil || names() != "A:1 B:1 Empty:0!" {
			t.Errorf("%v %s", err, names())
		}
		if err := put("A", true); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"", " ", "a/b", "..", "x\ny", strings.Repeat("x", 61)} {
			if err := put(bad, false); fault.CodeOf(err) != fault.Invalid || err == nil {
				t.Errorf("%q: %v", bad, err)
			}
		}
		for _, c := range []struct {
			from, to string
			code     fault.Code
			want     string
		}{
			{"A", "C", 0, "B:1 C:1! Empty:0!"}, {"B", "C", 0, "C:1! Empty:0!"}, {"Z", "Y", fault.NotFound, "C:1! Empty:0!"}, {"C", "a/b", fault.Invalid, "C:1! Empty:0!"}, {"Empty", "", 0, "C:1!"}, {"C", "", 0, ""},
		} {
			err := h.river.RenameCategory(t.Context(), "ann", c.from, c.to)
			if (err == nil) != (c.code == 0) || err != nil && fault.CodeOf(err) != c.code || names() != c.want {
				t.Errorf("%s to %q: %v; %s", c.from, c.to, err, names())
			}
		}
		if got := h.list("ann"); got != "Feed "+feedURL {
			t.Error(got)
		}
	})
}

func TestStoredItemsCanBeMarkedAndSearched(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, doc(rss("", "chalk", "pencil")))
		h.serve("http://other.test/feed", doc(strings.ReplaceAll(rss("", "chalk", "ink"), "<title>Feed</title>", "<title>Other things</title>")))
		h.add(river.Request{URL: feedURL, Categories: []string{"News"}})
		o := h.add(river.Request{URL: "http://other.test/feed"})
		h.advance(2 * time.Second)
		find := func(match string) string {
			list, err := h.river.Items(t.Context(), river.ItemQuery{Reader: "ann", Match: match})
			if err != nil {
				t.Errorf("%q: %v", match, err)
			}
			var out []string
			for _, e := range list {
				out = append(out, e.Source.Title+"/"+e.Title)
			}
			slices.Sort(out)
			return strings.Join(out, " ")
		}
		first := h.items(feedURL)[0]
		yes := true
		if n, err := h.river.Mark(t.Context(), "ann", []int64{first.ID, 1}, &yes, &yes); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		for match, want := range map[string]string{
			"":                    "Feed/chalk Feed/pencil Other things/chalk Other things/ink",
			"chalk":               "Feed/chalk Other things/chalk",
			"chalk feed:other":    "Other things/chalk",
			`feed:"OTHER things"`: "Other things/chalk Other things/ink",
			"feed:other.test":     "Other things/chalk Other things/ink",
			"category:news":       "Feed/chalk Feed/pencil",
			"category:news ink":   "",
			"is:starred":          "Feed/" + first.Title,
			"feed:nowhere":        "",
		} {
			if got := find(match); got != want {
				t.Errorf("%q finds %s; want %s", match, got, want)
			}
		}
		if got := strings.Count(find("is:unread"), "/"); got != 3 {
			t.Errorf("%d unread", got)
		}
		if err := h.river.MarkAllRead(t.Context(), "ann", o.SourceID, "", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		counts, err := h.river.CountUnread(t.Context(), "ann")
		if err != nil || counts[o.SourceID].Items != 0 || counts[first.SourceID].Items != 1 {
			t.Errorf("%+v %v", counts, err)
		}
		if _, err := h.river.Mark(t.Context(), "ann", make([]int64, 1001), &yes, nil); fault.CodeOf(err) != fault.Invalid {
			t.Error(err)
		}
	})
}

func TestLoginIsNeverSentToTheHostOfAMovedFeed(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // the test simulates many days; shorter tests run the same goroutines under the race detector
	withDisk(t, river.Options{}, func(t *testing.T, h *diskHarness) {
		h.serve(feedURL, locked("ann", "secret", rss("", "a")))
		h.add(river.Request{URL: feedURL, Login: river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "secret"}})
		at := feedURL
		for i := range 8 {
			to := "http://thief.test/" + strconv.Itoa(i)
			h.serve(to, doc(rss("", "a")))
			h.serve(at, status(301, "Location", to))
			h.requests()
			h.advance(5 * 24 * time.Hour)
			for _, a := range h.requests() {
				if strings.HasPrefix(a.url, "thief.test") && a.header.Get("Authorization") != "" {
					t.Fatalf("after %d moves %s gets the login", i+1, a.url)
				}
			}
			at = to
		}
		subs, err := h.river.Subscriptions(t.Context(), river.SubscriptionQuery{Reader: "ann"})
		if err != nil || len(subs) != 1 || subs[0].Source.URL != at {
			t.Errorf("the feed did not move: %+v %v", subs, err)
		}
	})
}
