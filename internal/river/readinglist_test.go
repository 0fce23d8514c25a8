package river_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

const listURL = "http://lists.test/all.opml"

// opmlOf returns a list of feeds at http://f.test/NAME. The name "folder/name" puts the feed into
// a folder, and "@name" includes the list at http://lists.test/name.
func opmlOf(names ...string) string {
	var b strings.Builder
	b.WriteString(`<opml version="2.0"><head><title>The list</title></head><body>`)
	for _, n := range names {
		switch folder, name, ok := strings.Cut(n, "/"); {
		case strings.HasPrefix(n, "@"):
			fmt.Fprintf(&b, `<outline type="include" text="%s" url="http://lists.test/%s"/>`, n[1:], n[1:])
		case ok:
			fmt.Fprintf(&b, `<outline text="%s"><outline text="%s" xmlUrl="http://f.test/%s"/></outline>`, folder, name, name)
		default:
			fmt.Fprintf(&b, `<outline text="%s" xmlUrl="http://f.test/%s"/>`, n, n)
		}
	}
	return b.String() + "</body></opml>"
}

// names returns the followed feeds at f.test in the form "a b* c". The mark * means that the user
// added the feed.
func (h *diskHarness) names(user string) string {
	h.t.Helper()
	subs, err := h.river.Subscriptions(h.t.Context(), river.SubscriptionQuery{Reader: user})
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, f := range subs {
		s := strings.TrimPrefix(f.Source.URL, "http://f.test/")
		if f.ListID == 0 {
			s += "*"
		}
		out = append(out, s)
	}
	return strings.Join(compactSorted(out), " ")
}

func compactSorted(list []string) []string {
	out := compact(list)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

func (h *diskHarness) followList(url string) river.Imported {
	h.t.Helper()
	got, err := h.river.Import(h.t.Context(), "ann", nil, river.ImportOptions{URL: url, Follow: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func (h *diskHarness) readingList(url string) river.ReadingList {
	h.t.Helper()
	lists, err := h.river.ReadingLists(h.t.Context(), "ann")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, l := range lists {
		if l.URL == url {
			return l
		}
	}
	h.t.Fatalf("no list %s in %+v", url, lists)
	return river.ReadingList{}
}

func TestSubscriptionsFollowChangesOfAReadingList(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		for _, n := range strings.Fields("a b c d e f") {
			h.serve("http://f.test/"+n, doc(rss("", n)))
		}
		h.add(river.Request{URL: "http://f.test/b"}) // the user followed this feed before the list
		h.serve(listURL, tagged(opmlOf("a", "b", "c", "Folder/d", "e"), `"1"`))
		got := h.followList(listURL)
		if got.Added != 4 || got.Had != 1 || got.Lists != 1 || h.names("ann") != "a b* c d e" {
			t.Fatalf("%+v %s", got, h.names("ann"))
		}
		h.advance(time.Minute)
		ids := map[string]int64{}
		for _, n := range strings.Fields("a b c d e f") {
			ids[n] = river.SourceID("http://f.test/" + n)
		}
		// The user unfollows a feed, renames another, and stars an item of a third feed.
		if err := h.river.Remove(t.Context(), "ann", ids["a"]); err != nil {
			t.Fatal(err)
		}
		if _, err := h.river.Change(t.Context(), "ann", ids["c"], func(s *river.Subscription) error { s.Title = "Mine"; return nil }); err != nil {
			t.Fatal(err)
		}
		yes := true
		if _, err := h.river.Mark(t.Context(), "ann", []int64{h.items("http://f.test/d")[0].ID}, nil, &yes); err != nil {
			t.Fatal(err)
		}
		h.advance(3 * time.Hour) // the list is checked again without changes, and the unfollowed feed stays unfollowed
		if got := h.names("ann"); got != "b* c* d e" {
			t.Error(got)
		}
		h.serve(listURL, tagged(opmlOf("a", "b", "e", "f"), `"2"`))
		h.advance(25 * time.Hour)
		if got := h.names("ann"); got != "b* c* d* e f" {
			t.Errorf("two removed and one added: %s", got)
		}
		h.serve(listURL, tagged(opmlOf("a", "b", "f"), `"3"`))
		h.advance(25 * time.Hour)
		if got := h.names("ann"); got != "b* c* d* f" {
			t.Errorf("one removed: %s", got)
		}
		if l := h.readingList(listURL); l.Problem != "" || l.Feeds != 3 || l.Title != "The list" {
			t.Errorf("%+v", l)
		}
		var seen int
		for _, a := range h.requests() {
			if strings.HasPrefix(a.url, "lists.test/") {
				if seen++; (seen > 1) != (a.header.Get("If-None-Match") != "") {
					t.Errorf("request %d: %v", seen, a.header)
				}
			}
		}
		if seen < 5 || seen > 60 {
			t.Errorf("the list was fetched %d times", seen)
		}
	})
}

func TestRemovalOfManyFeedsByAReadingListNeedsConfirmation(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, tagged(opmlOf("a", "b", "c", "d"), `"1"`))
		h.followList(listURL)
		h.serve(listURL, tagged(opmlOf("a"), `"2"`))
		h.advance(90 * time.Minute)
		l := h.readingList(listURL)
		if got := h.names("ann"); got != "a b c d" || l.Problem == "" || l.Memory.DoubtAt.IsZero() || l.Feeds != 4 {
			t.Errorf("after the first time: %s %+v", got, l)
		}
		if wait := l.NextAt.Sub(l.Memory.DoubtAt); wait != time.Hour {
			t.Errorf("the next check is after %v", wait)
		}
		h.reboot()
		h.advance(time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "a" || l.Problem != "" || !l.Memory.DoubtAt.IsZero() {
			t.Errorf("after the second time: %s %+v", got, l)
		}
		// A temporary loss of feeds has no effect.
		h.serve(listURL, tagged(opmlOf("a", "b", "c", "d"), `"3"`))
		h.advance(25 * time.Hour)
		h.serve(listURL, tagged(opmlOf(), `"4"`))
		for i := 0; h.readingList(listURL).Memory.DoubtAt.IsZero(); i++ {
			if h.advance(30 * time.Minute); i > 100 {
				t.Fatal("an empty list is accepted at once")
			}
		}
		h.serve(listURL, tagged(opmlOf("a", "b", "c", "d"), `"5"`))
		h.advance(2 * time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "a b c d" || l.Problem != "" || !l.Memory.DoubtAt.IsZero() {
			t.Errorf("after the temporary loss: %s %+v", got, l)
		}
	})
}

func TestUnreadableReadingListKeepsItsFeeds(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		full := opmlOf("a", "b", "c", "d")
		h.serve(listURL, doc(full))
		h.followList(listURL)
		for name, c := range map[string]struct {
			answer  http.HandlerFunc
			problem string
		}{
			"500": {status(500), "500"}, "404": {status(404), "404"}, "html": {page(), "web page"}, "feed": {doc(rss("", "a")), "follow it as one"}, "empty": {doc(""), "empty"},
			"cut": {doc(full[:len(full)/2]), "truncated"}, "429": {status(429, "Retry-After", "60"), ""},
		} {
			h.serve(listURL, c.answer)
			h.advance(26 * time.Hour)
			if got, l := h.names("ann"), h.readingList(listURL); got != "a b c d" || !strings.Contains(l.Problem, c.problem) || l.Problem == "" && name != "429" {
				t.Errorf("%s: %s, %q", name, got, l.Problem)
			}
			h.serve(listURL, doc(full))
			for range 4 {
				if h.advance(24 * time.Hour); h.readingList(listURL).Problem == "" {
					break
				}
			}
			if l := h.readingList(listURL); l.Problem != "" {
				t.Errorf("after %s: %q", name, l.Problem)
			}
		}
		h.serve(listURL, status(410))
		h.advance(2 * 24 * time.Hour)
		h.requests()
		h.advance(7 * 24 * time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "a b c d" || !strings.Contains(l.Problem, "gone") || strings.Contains(h.requestURLs(), "lists.test") {
			t.Errorf("410: %s %q", got, l.Problem)
		}
	})
}

func TestNestedReadingListsAreFollowedToALimitedDepth(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		serve := func(name string, names ...string) { h.serve("http://lists.test/"+name, doc(opmlOf(names...))) }
		serve("all.opml", "a", "@1.opml", "@all.opml")
		serve("1.opml", "b", "@2.opml", "@all.opml")
		serve("2.opml", "c", "@3.opml", "@1.opml")
		serve("3.opml", "d", "@4.opml")
		serve("4.opml", "e", "@5.opml")
		serve("5.opml", "f", "@6.opml")
		got := h.followList(listURL)
		if got.Lists != 2 {
			t.Errorf("%+v", got)
		}
		h.advance(2 * time.Hour)
		if got := h.names("ann"); got != "a b c d e" {
			t.Error(got)
		}
		if l := h.readingList("http://lists.test/4.opml"); l.Problem == "" {
			t.Errorf("%+v", l)
		}
		// A list that is no longer included is removed with its feeds and with the lists that it
		// includes.
		serve("all.opml", "a", "x", "@1.opml")
		serve("1.opml", "b", "y", "z")
		h.advance(26 * time.Hour)
		if got := h.names("ann"); got != "a b x y z" {
			t.Error(got)
		}
		lists, err := h.river.ReadingLists(t.Context(), "ann")
		if err != nil || len(lists) != 2 {
			t.Errorf("%d lists, %v", len(lists), err)
		}
		if err := h.river.DropReadingList(t.Context(), "ann", h.readingList(listURL).ID, true); err != nil || h.names("ann") != "" {
			t.Errorf("%v %s", err, h.names("ann"))
		}
	})
}

func TestFeedInSeveralNestedListsIsRemovedWithTheLastOfThem(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		serve := func(name string, names ...string) { h.serve("http://lists.test/"+name, doc(opmlOf(names...))) }
		serve("all.opml", "a", "d", "e", "lost", "@1.opml", "@2.opml")
		serve("1.opml", "lost", "both", "kept")
		serve("2.opml", "both", "c")
		h.followList(listURL)
		h.advance(2 * time.Hour)
		serve("all.opml", "a", "d", "e", "lost", "kept", "@1.opml", "@2.opml")
		h.advance(26 * time.Hour)
		if got := h.names("ann"); got != "a both c d e kept lost" {
			t.Fatal(got)
		}
		serve("all.opml", "a", "d", "e", "kept")
		h.advance(26 * time.Hour)
		if got := h.names("ann"); got != "a d e kept" {
			t.Errorf("after the loss of the nested lists: %s", got)
		}
		serve("all.opml", "a", "d", "e", "kept", "@3.opml")
		serve("3.opml", "a", "f")
		h.advance(52 * time.Hour)
		if got := h.names("ann"); got != "a d e f kept" {
			t.Fatal(got)
		}
		if err := h.river.DropReadingList(t.Context(), "ann", h.readingList(listURL).ID, true); err != nil || h.names("ann") != "" {
			t.Errorf("after the removal of the list: %v %s", err, h.names("ann"))
		}
	})
}

func TestReadingListIsRemovedWithOrWithoutItsFeeds(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, doc(opmlOf("a", "b")))
		h.serve("http://lists.test/more.opml", doc(opmlOf("b", "c")))
		h.followList(listURL)
		h.followList("http://lists.test/more.opml")
		if _, err := h.river.Import(t.Context(), "ann", nil, river.ImportOptions{URL: listURL, Follow: true}); fault.CodeOf(err) != fault.Conflict {
			t.Error(err)
		}
		// A feed that is also in another list moves to that list.
		if err := h.river.DropReadingList(t.Context(), "ann", h.readingList(listURL).ID, true); err != nil || h.names("ann") != "b c" {
			t.Errorf("%v %s", err, h.names("ann"))
		}
		more := h.readingList("http://lists.test/more.opml").ID
		if err := h.river.DropReadingList(t.Context(), "bea", more, true); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
		if err := h.river.DropReadingList(t.Context(), "ann", more, false); err != nil || h.names("ann") != "b* c*" {
			t.Errorf("%v %s", err, h.names("ann"))
		}
		h.requests()
		h.advance(48 * time.Hour)
		if got := h.requestURLs(); strings.Contains(got, "lists.test") {
			t.Errorf("requests for a removed list: %s", got)
		}
	})
}

func TestReadingListThatCannotBeAddedLeavesNoSubscriptions(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1, Max: 2}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, doc(opmlOf("a", "b", "c")))
		h.serve("http://lists.test/feed", doc(rss("", "a")))
		h.serve("http://lists.test/page", page())
		for url, code := range map[string]fault.Code{
			"http://lists.test/feed": fault.Invalid, "http://lists.test/page": fault.Invalid, "http://lists.test/404": fault.NotFound,
			"http://nobody.test/": fault.Unreadable, "http://ann:secret@lists.test/": fault.Invalid, "": fault.Invalid,
		} {
			for _, follow := range []bool{true, false} {
				_, err := h.river.Import(t.Context(), "ann", nil, river.ImportOptions{URL: url, Follow: follow})
				if fault.CodeOf(err) != code || err == nil {
					t.Errorf("%q: %v", url, err)
				}
			}
		}
		lists, err := h.river.ReadingLists(t.Context(), "ann")
		if err != nil || len(lists) != 0 || h.names("ann") != "" {
			t.Errorf("%v %v %s", lists, err, h.names("ann"))
		}
	})
}

func TestGrowingReadingListReportsTheFeedLimit(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1, Max: 3}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, doc(opmlOf("a", "b")))
		h.followList(listURL)
		h.serve(listURL, doc(opmlOf("a", "b", "c", "d")))
		h.advance(3 * time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "a b c" || !strings.Contains(l.Problem, "1 feed was not added") || !strings.Contains(l.Problem, "river.max-feeds") {
			t.Errorf("%s %q", got, l.Problem)
		}
		f, err := h.river.Find(t.Context(), "ann", "http://f.test/a")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.river.Remove(t.Context(), "ann", f.SourceID); err != nil {
			t.Fatal(err)
		}
		h.advance(25 * time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "b c d" || l.Problem != "" {
			t.Errorf("with capacity for one more: %s %q", got, l.Problem)
		}
		h.serve(listURL, doc(opmlOf("a", "b", "c")))
		h.advance(25 * time.Hour)
		if got, l := h.names("ann"), h.readingList(listURL); got != "b c" || l.Problem != "" {
			t.Errorf("%s %q", got, l.Problem)
		}
	})
}

func TestReadingListOverTheLimitIsFollowedPartly(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1, Max: 2}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, doc(opmlOf("a", "b", "c")))
		got := h.followList(listURL)
		if got.Added != 2 || got.Over != 1 || got.Lists != 1 || h.names("ann") != "a b" {
			t.Errorf("%+v %s", got, h.names("ann"))
		}
		if l := h.readingList(listURL); !strings.Contains(l.Problem, "1 feed was not added") {
			t.Errorf("%q", l.Problem)
		}
	})
}

func TestRarelyChangingReadingListIsCheckedLessOften(t *testing.T) {
	t.Parallel()
	withDisk(t, river.Options{HostInterval: -1}, func(t *testing.T, h *diskHarness) {
		h.serve(listURL, tagged(opmlOf("a"), `"1"`))
		h.followList(listURL)
		h.requests()
		var days []int
		for range 8 {
			h.advance(24 * time.Hour)
			days = append(days, strings.Count(h.requestURLs(), "lists.test"))
		}
		if days[0] < 6 || days[0] > 20 || days[7] < 1 || days[7] > 2 {
			t.Errorf("%v requests a day", days)
		}
		if d := cmp.Diff("a", h.names("ann")); d != "" {
			t.Error(d)
		}
	})
}
