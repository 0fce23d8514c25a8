package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

// selectHarness returns a server on which alice follows three feeds, and the IDs of these feeds.
func selectHarness(t *testing.T) (g *followHarness, ids []string) {
	t.Helper()
	g = newFollowHarness(t)
	for _, name := range []string{"A", "B", "C"} {
		f := g.fakeRiver.follow("alice", source(g.fake.now, "https://"+strings.ToLower(name)+".example/", "Feed "+name), "Old")
		ids = append(ids, strconv.FormatInt(f.SourceID, 10))
	}
	return g, ids
}

func TestSelectedFeedsMoveToACategory(t *testing.T) {
	t.Parallel()
	g, ids := selectHarness(t)
	lacks(t, g.look("/feeds"), `type="checkbox"`)
	has(t, g.look("/feeds?select=1&sort=newest"), `name="feed" value="`+ids[0]+`"`, `name="back" value="/feeds?select=1&amp;sort=newest"`)
	to := g.done("/feeds/selected", "back", "/feeds?select=1&sort=newest", "feed", ids[0], "feed", ids[0], "feed", ids[2], "do", "move", "new", "News & more")
	if !strings.HasPrefix(to, "/feeds?") || strings.Contains(to, "select") || !strings.Contains(to, "sort=newest") {
		t.Errorf("it leads to %s", to)
	}
	has(t, g.look(to), "Moved 2 feeds to the category News &amp; more.")
	list, err := g.fakeRiver.Subscriptions(t.Context(), river.SubscriptionQuery{Reader: "alice", Category: "News & more"})
	if err != nil || len(list) != 2 || len(list[0].Categories) != 1 {
		t.Errorf("%v %+v", err, list)
	}
	has(t, g.look(g.done("/feeds/selected", "feed", ids[1], "do", "move")), "Removed 1 feed from all categories.")
}

func TestUnfollowingSeveralFeedsCanBeUndone(t *testing.T) {
	t.Parallel()
	g, ids := selectHarness(t)
	to := g.done("/feeds/selected", "feed", ids[0], "feed", ids[1], "do", "unfollow")
	page := g.look(to)
	has(t, page, "You unfollowed 2 feeds.", `action="/feeds/selected/undo"`, "You follow 1 feed.")
	field := attr(find(check(t, g.open(to)), "input", "")[0], "value")
	has(t, g.look(g.done("/feeds/selected/undo", "feeds", field)), "Undone: you follow 2 feeds again, as before.", "You follow 3 feeds.")
	g.done("/feeds/selected", "feed", ids[0], "do", "unfollow")
	g.fake.now = g.fake.now.Add(2 * time.Minute)
	lacks(t, g.look(to), "/feeds/selected/undo")
	if rec := g.send("/feeds/selected/undo", "feeds", field); rec.Code != 404 {
		t.Errorf("after a minute: %d", rec.Code)
	}
}

func TestSelectedFeedsAreCheckedAndMarkedRead(t *testing.T) {
	t.Parallel()
	g, ids := selectHarness(t)
	has(t, g.look(g.done("/feeds/selected", "feed", ids[0], "feed", ids[1], "do", "check")), "2 feeds will be checked in the next moments.")
	has(t, g.look(g.done("/feeds/selected", "feed", "1", "do", "check")), "No check is possible now")
	page := g.look(g.done("/feeds/selected", "feed", ids[0], "do", "read", "to", strconv.FormatInt(g.fake.now.UnixMilli(), 10)))
	has(t, page, "Marked all items of 1 feed read.", `name="to"`)
}

func TestInvalidSelectionChangesNothing(t *testing.T) {
	t.Parallel()
	g, ids := selectHarness(t)
	has(t, g.wrong(400, "/feeds/selected", "do", "unfollow"), "Tick at least one feed first.", `type="checkbox"`)
	g.wrong(400, "/feeds/selected", "do", "unfollow", "feed", "x")
	g.wrong(400, "/feeds/selected", "do", "dance", "feed", ids[0])
	many := []string{"do", "check"}
	for n := range 1001 {
		many = append(many, "feed", strconv.Itoa(n+1))
	}
	has(t, g.wrong(400, "/feeds/selected", many...), "at most 1000 can be changed at once")
	for _, undo := range []string{"", "!", "1.~", "-1", strings.Repeat("z", 60)} {
		if rec := g.send("/feeds/selected/undo", "feeds", undo); rec.Code != 400 {
			t.Errorf("undo of %q: %d", undo, rec.Code)
		}
	}
	for _, back := range []string{"https://evil.example/", "//evil.example", "/river", "/feeds/../account"} {
		if to := g.done("/feeds/selected", "back", back, "feed", ids[0], "do", "check"); !strings.HasPrefix(to, "/feeds?") {
			t.Errorf("%s leads to %s", back, to)
		}
	}
	g.as("bob")
	if rec := g.send("/feeds/selected", "feed", ids[0], "do", "unfollow"); rec.Code != 404 {
		t.Errorf("another reader unfollows it: %d", rec.Code)
	}
	g.as("alice")
	has(t, g.look("/feeds"), "You follow 3 feeds.")
}

func TestFeedListIsSortedAsRequested(t *testing.T) {
	t.Parallel()
	g, _ := selectHarness(t)
	src := source(g.fake.now, "https://z.example/", "Zebra")
	src.NewestAt = g.fake.now
	g.fakeRiver.follow("alice", src)
	page := g.look("/feeds?sort=newest")
	if strings.Index(page, ">Zebra<") > strings.Index(page, ">Feed A<") {
		t.Error("the feed with the newest item is not first")
	}
	has(t, page, `<option value="newest" selected>newest item</option>`)
	for _, sort := range []string{"unread", "failure", "added", "<script>", ""} {
		has(t, g.look("/feeds?sort="+sort), ">Zebra<")
	}
}

func TestFeedTitlesInAnyScriptAreShownUnchanged(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	for i, name := range []string{"\u200fشبكة الأخبار", "mixed שלום text \u202e", "   ", "<svg onload=alert(1)>", strings.Repeat("long ", 2000)} {
		src := source(g.fake.now, fmt.Sprintf("https://t%d.example/", i), name)
		src.About.Icon = "data:image/svg+xml,<svg onload=alert(1)>"
		f := g.fakeRiver.follow("alice", src)
		for _, path := range []string{"", "/settings", "/diagnosis"} {
			g.look(readerui.SourcePath(f.SourceID) + path)
		}
	}
	page := g.look("/feeds")
	has(t, page, ">t2.example/<", "شبكة", "&lt;svg onload")
	lacks(t, page, "data:image", "<svg onload")
}
