package web

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/web/readerui"
)

func TestUnfollowCanBeUndoneForAMinute(t *testing.T) {
	t.Parallel()
	g := newFollowHarness(t)
	g.fakeRiver.addListsAndNotices("alice")
	id := river.SourceID("http://scripting.com/rss.xml")
	to := g.done(readerui.SourcePath(id)+"/unfollow", "sure", "yes")
	bar := find(check(t, g.open(to)), "div", "undo")
	action := readerui.SourcePath(id) + "/unfollow/undo"
	if len(bar) != 1 || !strings.HasPrefix(text(bar[0]), "You unfollowed the feed. Undo until ") || attr(find(bar[0], "form", "")[0], "action") != action {
		t.Fatalf("the bar is %v", bar)
	}
	has(t, g.look(g.done(action)), "Undone: you follow this feed again, as before.", "Scripting News")
	has(t, g.wrong(404, action), "nothing to undo")
	lacks(t, g.look(to), `class="undo"`)

	to = g.done(readerui.SourcePath(id)+"/unfollow", "sure", "yes")
	g.as("bob")
	if rec := g.send(action); rec.Code != 404 {
		t.Errorf("another reader undoes it: %d", rec.Code)
	}
	g.as("alice")
	g.fake.now = g.fake.now.Add(61 * time.Second)
	page := g.look(to)
	lacks(t, page, `class="undo"`)
	has(t, page, "You unfollowed the feed.")
	if rec := g.send(action); rec.Code != 404 {
		t.Errorf("after a minute: %d", rec.Code)
	}
	for _, query := range []string{"feed=x", "feed=-1", "feed=7", "feed=" + strings.Repeat("9", 40)} {
		lacks(t, g.look("/feeds?done=unfollowed&"+query), `class="undo"`)
	}
}
