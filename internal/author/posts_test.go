package author_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

func TestPublishedPostIsInTheFeedAndNotified(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		first := d.post("Hello, *world*.")
		d.sleep(time.Second)
		second := d.must(d.Save(d.ctx, author.Edit{User: "alice", To: author.Published, Change: func(c *author.Content) error {
			c.Title, c.Source, c.Categories = "A title", "Longer.", []string{"Go", "#go", " Feeds  and clouds "}
			return nil
		}}))
		d.wantFeed("A title: Longer. | Hello, <em>world</em>.")
		if !slices.Equal(d.notified(), []int64{1, 2}) {
			t.Errorf("notified of %v", d.notified())
		}
		items := d.feed().Items
		if items[1].ID != d.Address(first) || !items[1].PermaLink || items[1].More == nil || items[1].More.Markdown != "Hello, *world*." {
			t.Errorf("the item is %+v", items[1])
		}
		if got := d.Path(second); got != "/alice/2000/01/01/a-title" {
			t.Errorf("the path is %s", got)
		}
		if got := d.Path(first); got != "/alice/2000/01/01/000000" {
			t.Errorf("the path of the first post is %s", got)
		}
		if got := fmt.Sprint(second.Categories); got != "[Go Feeds and clouds]" {
			t.Errorf("the categories are %s", got)
		}
		draft := d.must(d.Save(d.ctx, author.Edit{User: "alice", Change: func(c *author.Content) error { c.Source = "not yet"; return nil }}))
		if draft.State != author.Draft || d.Path(draft) != "" || len(d.notified()) != 2 {
			t.Errorf("the draft is %+v, notified %v", draft, d.notified())
		}
	})
}

func TestRepeatedCreateRequestCreatesOnePost(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		e := write("once")
		e.Key = "request 1"
		a := d.must(d.Save(d.ctx, e))
		b := d.must(d.Save(d.ctx, e))
		if a.ID != b.ID || a.Revision != b.Revision {
			t.Errorf("posts %d and %d", a.ID, b.ID)
		}
		d.wantFeed("once")
	})
}

func TestSaveWithoutChangesCreatesNoRevision(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("one")
		d.sleep(time.Second)
		e := write("one")
		e.ID, e.Base = p.ID, p.Revision
		again := d.must(d.Save(d.ctx, e))
		if again.Revision != p.Revision || !again.UpdatedAt.Equal(p.UpdatedAt) || len(d.notified()) != 1 {
			t.Errorf("the post became %+v, notified %v", again, d.notified())
		}
		e.Change = nil
		e.At = p.PublishedAt.Add(-time.Hour)
		if moved := d.must(d.Save(d.ctx, e)); moved.Revision != p.Revision+1 || len(d.notified()) != 2 {
			t.Errorf("changed date: %+v, notified %v", moved, d.notified())
		}
	})
}

func TestConcurrentEditOfAPostIsRejectedAsConflict(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("one")
		edit := func(text string) author.Edit { e := write(text); e.ID, e.Base = p.ID, p.Revision; return e }
		d.must(d.Save(d.ctx, edit("two")))
		_, err := d.Save(d.ctx, edit("three"))
		d.wantRefusal(err, fault.Conflict, "changed elsewhere")
		_, err = d.Delete(d.ctx, "alice", p.ID, p.Revision, "test")
		d.wantRefusal(err, fault.Conflict, "changed elsewhere")
		d.wantFeed("two")

		// Concurrent edits without a Base do not overwrite each other.
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				_, err := d.Save(d.ctx, author.Edit{User: "alice", ID: p.ID, Change: func(c *author.Content) error {
					c.Categories = append(c.Categories, fmt.Sprint("c", i))
					return nil
				}})
				if err != nil && fault.CodeOf(err) != fault.Conflict {
					t.Error(err)
				}
			})
		}
		all.Wait()
		now := d.must(d.Get(d.ctx, "alice", p.ID))
		if int64(len(now.Categories)) != now.Revision-2 {
			t.Errorf("%d categories after %d changes", len(now.Categories), now.Revision-2)
		}
	})
}

func TestLastChangeCanBeUndoneForOneMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("one")
		e := write("two")
		e.ID = p.ID
		d.sleep(10 * time.Second)
		d.must(d.Save(d.ctx, e))
		d.wantFeed("two")
		d.must(d.Undo(d.ctx, "alice", p.ID, "test"))
		d.wantFeed("one")
		_, err := d.Undo(d.ctx, "alice", p.ID, "test")
		d.wantRefusal(err, fault.Conflict, "nothing to undo")

		d.must(d.Delete(d.ctx, "alice", p.ID, 0, "test"))
		d.wantFeed("")
		d.sleep(59 * time.Second)
		back := d.must(d.Undo(d.ctx, "alice", p.ID, "test"))
		d.wantFeed("one")
		if back.GUID != p.GUID || d.Path(back) != d.Path(p) {
			t.Errorf("restored as %+v", back)
		}
		q := d.post("three")
		d.must(d.Undo(d.ctx, "alice", q.ID, "test"))
		d.wantFeed("one")
		again := d.must(d.Save(d.ctx, author.Edit{User: "alice", ID: q.ID, To: author.Published}))
		if again.GUID != q.GUID {
			t.Errorf("the same post is another item: %s and %s", q.GUID, again.GUID)
		}
		d.sleep(61 * time.Second)
		_, err = d.Undo(d.ctx, "alice", q.ID, "test")
		d.wantRefusal(err, fault.Conflict, "for a minute")
	})
}

func TestDeletedPostIsRemovedFromTheFeedAndCanBeRestored(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("one")
		d.must(d.Delete(d.ctx, "alice", p.ID, 0, "test"))
		_, err := d.Save(d.ctx, author.Edit{User: "alice", ID: p.ID})
		d.wantRefusal(err, fault.Gone, "deleted")
		back := d.must(d.Save(d.ctx, author.Edit{User: "alice", ID: p.ID, To: author.Published}))
		if back.GUID != p.GUID {
			t.Errorf("restored with the guid %s", back.GUID)
		}
		d.wantFeed("one")
		if len(d.notified()) != 3 {
			t.Errorf("notified of %v", d.notified())
		}
	})
}

func TestScheduledPostIsPublishedOnTime(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		ctx, stop := context.WithCancel(d.ctx)
		var runs sync.WaitGroup
		for range 2 { // two goroutines act as two processes
			runs.Go(func() {
				if err := d.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		begun := time.Now()
		e := write("later")
		e.To, e.At = author.Scheduled, begun.Add(90*time.Minute)
		p := d.must(d.Save(ctx, e))
		if p.State != author.Scheduled {
			t.Errorf("the state is %s", p.State)
		}
		e = write("a future date")
		e.At = begun.Add(24 * time.Hour)
		if p := d.must(d.Save(ctx, e)); p.State != author.Scheduled {
			t.Errorf("a post of tomorrow is %s", p.State)
		}
		d.sleep(89 * time.Minute)
		if len(d.notified()) != 0 {
			t.Errorf("notified %v too early", d.notified())
		}
		d.sleep(time.Minute + 50*time.Millisecond)
		synctest.Wait()
		d.wantFeed("later")
		if it := d.feed().Items[0]; !it.Published.UTC.Equal(begun.Add(90 * time.Minute).UTC()) {
			t.Errorf("the date is %s", it.Published.UTC)
		}
		d.sleep(24 * time.Hour)
		synctest.Wait()
		if len(d.notified()) != 2 {
			t.Errorf("notified %v", d.notified())
		}
		e = write("too late")
		e.To, e.At = author.Scheduled, time.Now().Add(-time.Second)
		_, err := d.Save(ctx, e)
		d.wantRefusal(err, fault.Invalid, "in the past")
		stop()
		runs.Wait()
	})
}

func TestFutureDateOfAPublishedPostSchedulesIt(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("now")
		later := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		p = d.must(d.Save(d.ctx, author.Edit{User: "alice", ID: p.ID, At: later}))
		if p.State != author.Scheduled || !p.DueAt.Equal(later) {
			t.Errorf("the post is %s, due at %s", p.State, p.DueAt)
		}
		d.wantFeed("")
	})
}

func TestInvalidPostIsRejectedWithAReason(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.LimitMode = author.LimitStop
		content := func(change func(*author.Content)) error {
			_, err := d.Save(d.ctx, author.Edit{User: "alice", To: author.Published, Change: func(c *author.Content) error { change(c); return nil }})
			return err
		}
		for name, c := range map[string]struct {
			change func(*author.Content)
			words  string
		}{
			"nothing":          {func(*author.Content) {}, "nothing in the post"},
			"spaces":           {func(c *author.Content) { c.Source, c.Title = " \n\t ", "  " }, "nothing in the post"},
			"too long":         {func(c *author.Content) { c.Source = strings.Repeat("ä", 141) }, "141 characters"},
			"far too long":     {func(c *author.Content) { c.Title, c.Source = "t", strings.Repeat("x", author.MaxSource+1) }, "at most 262144"},
			"title":            {func(c *author.Content) { c.Title = strings.Repeat("x", 301) }, "301 characters"},
			"invalid link":     {func(c *author.Content) { c.Source, c.Link = "x", "javascript:alert(1)" }, "is not a URL"},
			"secret in link":   {func(c *author.Content) { c.Source, c.Link = "x", "https://a:b@c.example/" }, "password"},
			"empty enclosure":  {func(c *author.Content) { c.Enclosures = []author.Enclosure{{}} }, "no URL"},
			"invalid category": {func(c *author.Content) { c.Source, c.Categories = "x", []string{"!!!"} }, "cannot be a category"},
			"unknown format":   {func(c *author.Content) { c.Source, c.Format = "x", "word" }, "markdown, html or text"},
			"invalid language": {func(c *author.Content) { c.Source, c.Language = "x", "en\"><script>" }, "is not a language"},
			"long path":        {func(c *author.Content) { c.Enclosures = []author.Enclosure{{URL: "/" + strings.Repeat("x", 3000)}} }, "at most 2048"},
			"long guid":        {func(c *author.Content) { c.Source, c.Reply = "x", &author.Reply{GUID: strings.Repeat("x", 3000)} }, "at most 2048"},
			"invalid feed":     {func(c *author.Content) { c.Source, c.Reply = "x", &author.Reply{GUID: "x", Feed: "javascript:x"} }, "is not a URL"},
			"long facts": {func(c *author.Content) {
				c.Outline = []author.Node{{Text: "x", Attrs: []feed.Attr{{Name: "a", Value: strings.Repeat("x", author.MaxSource)}}}}
			}, "256 KiB"},
			"reply to script": {func(c *author.Content) { c.Source, c.Reply = "x", &author.Reply{URL: "javascript:x"} }, "is not a URL"},
		} {
			err := content(c.change)
			if fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.Message(err), c.words) {
				t.Errorf("%s: %v; want %q", name, err, c.words)
			}
		}
		_, err := d.Save(d.ctx, author.Edit{User: "alice", Change: func(*author.Content) error { return errBreak }})
		if !errors.Is(err, errBreak) {
			t.Errorf("the error is %v", err)
		}
		for name, change := range map[string]func(*author.Content){
			"140":        func(c *author.Content) { c.Source = strings.Repeat("ä", 140) },
			"link":       func(c *author.Content) { c.Source = "[x](https://a.example/" + strings.Repeat("x", 200) + ")" },
			"with title": func(c *author.Content) { c.Title, c.Source = "t", strings.Repeat("ä", 1000) },
			"image":      func(c *author.Content) { c.Enclosures = []author.Enclosure{{URL: "https://a.example/x.png"}} },
		} {
			if err := content(change); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = d.Save(d.ctx, author.Edit{User: "alice", ID: 77})
		d.wantRefusal(err, fault.NotFound, "")
		d.Feeds.CheckUser = func(context.Context, string) error { return fault.New(fault.Refused, "disabled") }
		_, err = d.Save(d.ctx, write("x"))
		d.wantRefusal(err, fault.Refused, "disabled")
	})
}

func TestActiveContentIsRemoved(t *testing.T) {
	t.Parallel()
	p := &author.Posts{}
	for _, source := range []string{
		"<script>alert(1)</script>hello", "[x](javascript:alert(1))", "<img src=x onerror=alert(1)>", "<a href='jav&#x0A;ascript:alert(1)'>x</a>",
		"![x](data:text/html,<script>alert(1)</script>)", "<iframe src='//evil.example'></iframe>", "</p></div><style>*{display:none}</style>", "<svg><script>alert(1)</script></svg>",
		"# <img/src='x'onerror='alert(1)'>", "`<script>`", "<details open ontoggle=alert(1)>",
	} {
		for _, f := range []author.Format{author.Markdown, author.HTML, author.Plain} {
			c, _, err := p.Preview(author.Content{Source: source, Format: f, Outline: []author.Node{{Text: source}}})
			if err != nil {
				t.Errorf("%q: %v", source, err)
			}
			for _, rendered := range []string{c.HTML, c.Outline[0].HTML} {
				low := strings.ToLower(rendered)
				for _, bad := range []string{"<script", "<iframe", "<style", "\"javascript:", "<img src=x onerror", " onerror=\"", " ontoggle=\""} {
					if strings.Contains(low, bad) {
						t.Errorf("%s %q became %q", f, source, rendered)
					}
				}
			}
		}
	}
}

func TestPostQuotaIsEnforced(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.MaxPosts = 2
		one := d.post("one")
		d.post("two")
		save := func(e author.Edit) error {
			e.User, e.Via = "alice", "test"
			e.Change = func(c *author.Content) error { c.Source = "more"; return nil }
			_, err := d.Save(d.ctx, e)
			return err
		}
		for _, to := range []author.State{author.Published, author.Scheduled} {
			if err := save(author.Edit{To: to, At: time.Now().Add(time.Hour)}); fault.CodeOf(err) != fault.TooMany {
				t.Errorf("a third post as %s: %v", to, err)
			}
		}
		if err := save(author.Edit{ID: one.ID}); err != nil {
			t.Errorf("a change of an existing post: %v", err)
		}
		if _, err := d.Import(d.ctx, "alice", []author.Post{{State: author.Published, GUID: "x"}}, nil); fault.CodeOf(err) != fault.TooMany {
			t.Errorf("an import: %v", err)
		}
		for n, want := range []bool{true, true, false} {
			if err := save(author.Edit{To: author.Draft}); (err == nil) != want || err != nil && fault.CodeOf(err) != fault.TooMany {
				t.Errorf("draft %d: %v", n+1, err)
			}
		}
		if _, err := d.Delete(d.ctx, "alice", one.ID, 0, "test"); err != nil {
			t.Fatal(err)
		}
		if err := save(author.Edit{To: author.Published}); err != nil {
			t.Errorf("a post after a deletion: %v", err)
		}
	})
}
