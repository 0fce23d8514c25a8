package author_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"

	"github.com/google/go-cmp/cmp"
)

const savedBefore = `<?xml version="1.0" encoding="ISO-8859-1"?>
<rss version="2.0" xmlns:x="http://x.example/"><channel><title>Caf` + "\xe9" + `</title><link>http://a.example/</link><description>d</description>
<item><title>Old</title><link>http://a.example/old</link><description>&lt;p&gt;old&lt;/p&gt;</description><guid isPermaLink="false">old-1</guid><pubDate>Sat, 02 Jan 1999 15:04:05 GMT</pubDate><category domain="d">Z</category><x:mood depth="3">fine</x:mood></item>
<item><description>older</description><guid isPermaLink="false">old-0</guid><pubDate>Fri, 01 Jan 1999 15:04:05 GMT</pubDate></item>
</channel></rss>`

func (d *harness) save(doc string) {
	d.t.Helper()
	if _, err := d.Feeds.Save(d.ctx, "alice", author.Public, []byte(doc), "put"); err != nil {
		d.t.Fatal(err)
	}
}

func TestFirstPostConvertsTheUploadedFeedToPosts(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.save(savedBefore)
		d.post("new")
		d.wantFeed("new | Old: old | older")
		f := d.feed()
		if f.Title.Value != "Café" {
			t.Errorf("the title is %q", f.Title.Value)
		}
		old := f.Items[1]
		if old.ID != "old-1" || old.PermaLink || old.Link != "http://a.example/old" || len(old.Unknown) != 1 || old.Unknown[0].Text != "fine" || old.Categories[0].Scheme != "d" {
			t.Errorf("the old item is %+v", old)
		}
		if len(d.notified()) != 2 {
			t.Errorf("notified of %v", d.notified())
		}
	})
}

func TestChannelOfTheUploadedFeedBecomesTheProfile(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		const channel = `<rss version="2.0"><channel><title>Notes &amp;amp; more</title><link>http://a.example/</link><description>Salt &amp; &lt;b&gt;pepper&lt;/b&gt;</description>
<language>en-us</language><ttl>90</ttl><skipHours><hour>24</hour><hour>3</hour></skipHours><skipDays><day>Never</day></skipDays>
<image><url>http://a.example/i.png</url><title>i</title><link>http://a.example/</link></image><item><title>Old</title></item></channel></rss>`
		if _, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { p.Language = "de"; return nil }, "test"); err != nil {
			t.Fatal(err)
		}
		d.save(channel)
		d.post("new")
		check := func(want author.Profile) {
			t.Helper()
			w, err := d.Writer(d.ctx, "alice")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, w.Profile); diff != "" {
				t.Error(diff)
			}
		}
		want := author.Profile{Title: "Notes & more", Blurb: "Salt & pepper", Language: "de", Avatar: "http://a.example/i.png", Hints: author.Hints{TTL: 90}}
		check(want) // skipDays is invalid, so only the ttl remains
		d.sleep(time.Second)
		d.save(strings.Replace(channel, "<day>Never</day>", "<day>Sunday</day>", 1))
		if _, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { p.Hints = author.Hints{}; return nil }, "test"); err != nil {
			t.Fatal(err)
		}
		d.post("newer")
		want.Hints = author.Hints{TTL: 90, SkipHours: []int{0, 3}, SkipDays: []string{"Sunday"}}
		check(want)
	})
}

func TestUploadedFeedIsServedUnchangedUntilTheNextPost(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.post("mine")
		d.sleep(time.Second)
		d.save(savedBefore)
		_, doc, err := d.Feeds.Document(d.ctx, "alice", author.Public)
		if err != nil || string(doc) != savedBefore {
			t.Errorf("%v\n%s", err, doc)
		}
		if w, err := d.Writer(d.ctx, "alice"); err != nil || w.Written || w.Posts != 1 {
			t.Errorf("the writer is %+v, %v", w, err)
		}
		d.post("again")
		d.wantFeed("again | mine | Old: old | older")
		d.save(strings.ReplaceAll(savedBefore, "old-0", "old-2"))
		d.sleep(time.Second)
		d.post("third")
		d.wantFeed("third | again | mine | Old: old | older | older")
	})
}

func TestUploadedFeedUpdatesExistingPosts(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.save(savedBefore)
		d.post("*mine*")
		d.sleep(time.Second)
		_, doc, err := d.Feeds.Document(d.ctx, "alice", author.Public)
		if err != nil {
			t.Fatal(err)
		}
		d.save(strings.NewReplacer("<title>Old</title>", "<title>Old, corrected</title>", "<p>old</p>", "<p>old, and fixed</p>").Replace(string(doc)))
		d.post("again")
		d.wantFeed("again | <em>mine</em> | Old, corrected: old, and fixed | older")
		posts, err := d.List(d.ctx, author.PostQuery{User: "alice", State: author.Published})
		if err != nil || len(posts) != 4 {
			t.Fatalf("%d posts, %v", len(posts), err)
		}
		if mine := posts[1]; mine.Revision != 1 || mine.Source != "*mine*" || mine.Format != author.Markdown {
			t.Errorf("the unchanged post is %+v", mine)
		}
		if old := posts[2]; old.GUID != "old-1" || old.PublishedAt.Year() != 1999 || old.Rest == nil || len(old.Rest.Unknown) != 1 {
			t.Errorf("the post that was corrected is %+v", old)
		}
	})
}

// Earlier versions stored a guid that is not a URL as a URL below the feed.
func TestItemsStoredUnderFormerGUIDsAreTheSamePosts(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		former, err := feed.ParseBytes([]byte(savedBefore), &feed.Options{URL: origin + "/alice/rss.xml"})
		if err != nil {
			t.Fatal(err)
		}
		before := savedBefore
		for i := range former.Items {
			it := &former.Items[i]
			before = strings.Replace(before, ">"+it.ID+"<", ">"+it.FormerID(former.Base)+"<", 1)
		}
		d.save(before)
		d.post("one")
		d.sleep(time.Second)
		d.save(strings.Replace(savedBefore, "<title>Old</title>", "<title>Old, corrected</title>", 1))
		d.post("two")
		d.wantFeed("two | one | Old, corrected: old | older")
	})
}

func TestRepeatedImportAddsPostsOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		var posts []author.Post
		begun := time.Now().Add(-100 * time.Hour)
		for i := range 45 {
			posts = append(posts, author.Post{GUID: fmt.Sprint("g", i), PublishedAt: begun.Add(time.Duration(i) * time.Hour), Content: author.Content{
				Title: "Same", Source: fmt.Sprint(i), Link: "javascript:x", Categories: []string{"!", "Go"}, Enclosures: []author.Enclosure{{URL: "ftp://x"}},
			}})
		}
		posts = append(posts, author.Post{State: author.Draft, Key: "d", GUID: "draft", Content: author.Content{Source: "draft"}})
		last := 0
		for range 2 {
			added, err := d.Import(d.ctx, "alice", posts, func(done int) { last = done })
			if err != nil || last != len(posts) || added != 46 && added != 0 {
				t.Errorf("added %d, %v", added, err)
			}
		}
		list, err := d.List(d.ctx, author.PostQuery{User: "alice", State: author.Published})
		if err != nil || len(list) != 45 {
			t.Fatalf("%d posts, %v", len(list), err)
		}
		if list[0].Source != "44" || list[0].Seq != 45 || list[44].Seq != 1 || list[0].Link != "" || len(list[0].Categories) != 1 || list[0].Slug == list[1].Slug {
			t.Errorf("the newest is %+v", list[0])
		}
		if f := d.feed(); len(f.Items) != 25 { // the feed has the incomplete archive page and a complete window
			t.Errorf("the feed has %d items", len(f.Items))
		}
		counts, err := d.Counts(d.ctx, "alice", author.ByCategory, "", 0)
		if err != nil || len(counts) != 1 || counts[0] != (author.Count{Name: "go", Label: "Go", Posts: 45}) {
			t.Errorf("%+v, %v", counts, err)
		}
	})
}

func TestImportOrdersPostsByDate(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		var posts []author.Post
		for i := range 600 { // more than one transaction, the newest first like in a feed
			posts = append(posts, author.Post{GUID: fmt.Sprint("g", i), PublishedAt: time.Now().Add(-time.Duration(i) * time.Hour), Content: author.Content{Source: fmt.Sprint(i)}})
		}
		old := posts[0]
		old.Source, old.PublishedAt = "the same GUID again", time.Now().Add(-1000*time.Hour)
		posts = append(posts, old)
		if added, err := d.Import(d.ctx, "alice", posts, nil); err != nil || added != 600 {
			t.Fatalf("added %d, %v", added, err)
		}
		list, err := d.List(d.ctx, author.PostQuery{User: "alice", State: author.Published, Limit: 600})
		if err != nil || len(list) != 600 {
			t.Fatalf("%d posts, %v", len(list), err)
		}
		for i, p := range list {
			if place := int64(600 - i); p.Source != fmt.Sprint(i) || p.Seq != place || p.ID != place {
				t.Fatalf("post %d is %q with place %d and id %d", i, p.Source, p.Seq, p.ID)
			}
		}
	})
}

func TestMovedFeedRejectsPosts(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		p := d.post("one")
		if _, err := d.Feeds.Move(d.ctx, "alice", author.Public, "https://elsewhere.example/rss"); err != nil {
			t.Fatal(err)
		}
		_, err := d.Save(d.ctx, write("two"))
		d.wantRefusal(err, fault.Conflict, "has moved")
		_, err = d.Delete(d.ctx, "alice", p.ID, 0, "test")
		d.wantRefusal(err, fault.Conflict, "has moved")
		if list, err := d.List(d.ctx, author.PostQuery{User: "alice"}); err != nil || len(list) != 1 || list[0].Revision != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestChangedProfileAppearsInTheFeedAtOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.post("one")
		_, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error {
			p.Title, p.Blurb, p.Accent, p.Language, p.Avatar = " Alice  <writes> ", "of & on", "#AABBCC", "de-CH", "/alice/media/x.png"
			return nil
		}, "test")
		if err != nil {
			t.Fatal(err)
		}
		f := d.feed()
		if f.Title.Value != "Alice <writes>" && f.Title.Value != "Alice &lt;writes&gt;" || f.Language != "de-CH" || f.Image == nil || f.Image.URL != origin+"/alice/media/x.png" {
			t.Errorf("the feed is %+v", f)
		}
		for name, change := range map[string]func(*author.Profile){
			"accent": func(p *author.Profile) { p.Accent = "red" }, "language": func(p *author.Profile) { p.Language = "deutsch!" },
			"theme": func(p *author.Profile) { p.Theme = "neon" }, "link": func(p *author.Profile) { p.Link = "javascript:x" },
			"avatar": func(p *author.Profile) { p.Avatar = "//evil.example/x" }, "title": func(p *author.Profile) { p.Title = strings.Repeat("x", 301) },
		} {
			_, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { change(p); return nil }, "test")
			if fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestPostsContainTheirAuthorInEveryFormat(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.post("one")
		formats := map[string][]string{ // key: format; value: expected text about the author
			"rss20": {"<dc:creator>Alice Doe</dc:creator>", "<atom:uri>" + origin + "/alice/</atom:uri>", `<gd:image xmlns:gd="http://schemas.google.com/g/2005" rel="http://schemas.google.com/g/2005#thumbnail" src="` + origin + `/alice/media/x.png"/>`},
			"atom":  {"<name>Alice Doe</name>", "<uri>" + origin + "/alice/</uri>"}, "atom03": {"<name>Alice Doe</name>", "<url>" + origin + "/alice/</url>"},
			"jsonfeed": {`"name":"Alice Doe","url":"` + origin + `/alice/","avatar":"` + origin + `/alice/media/x.png"`},
			"rdf":      {"<dc:creator>Alice Doe (" + origin + "/alice/)</dc:creator>"}, "csv": {"Alice Doe," + origin + "/alice/"}, "tsv": {"Alice Doe\t" + origin + "/alice/"},
			"cdf": {"Alice Doe"}, "html": {"Alice Doe"}, "text": {"Alice Doe"}, "phps": {"Alice Doe"}, "python": {"Alice Doe"}, "js": {"Alice Doe"}, "storable": {"Alice Doe"}, "ruby": {"Alice Doe"}, "perl": {"Alice Doe"}, "php": {"Alice Doe"},
			"opml": {"<ownerName>Alice Doe</ownerName>"},
		}
		flat := func(doc []byte) string { // removes white space, so that JSON is on one line
			return strings.NewReplacer(": ", ":", ",\n", ",", "  ", "").Replace(string(doc))
		}
		check := func(with map[string][]string) {
			t.Helper()
			f := d.feed()
			for format, words := range with {
				doc, _, err := render.Append(nil, f, format, &render.Options{Self: origin + "/alice/rss.xml"})
				if err != nil {
					t.Fatal(format, err)
				}
				for _, w := range words {
					if !strings.Contains(flat(doc), w) {
						t.Errorf("%s lacks %q:\n%s", format, w, doc)
					}
				}
			}
		}
		set := func(change func(p *author.Profile)) {
			t.Helper()
			if _, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { change(p); return nil }, "test"); err != nil {
				t.Fatal(err)
			}
		}
		set(func(p *author.Profile) { p.Title = "Walks" }) // Title is the title of the feed, not the name of the person
		if f := d.feed(); len(f.Items[0].Authors) != 1 || f.Items[0].Authors[0].Name != "alice" || f.Authors[0].Name != "alice" {
			t.Errorf("the authors are %+v and %+v", f.Items[0].Authors, f.Authors)
		}
		set(func(p *author.Profile) { p.Name, p.Avatar = " Alice  Doe", "/alice/media/x.png" })
		check(formats)
		set(func(p *author.Profile) { p.Email = "alice@example.com" })
		check(map[string][]string{
			"rss20": {"<author>alice@example.com (Alice Doe)</author>", "<managingEditor>alice@example.com (Alice Doe)</managingEditor>"},
			"atom":  {"<email>alice@example.com</email>"},
		})
		want := []feed.Person{{Name: "Alice Doe", Email: "alice@example.com", URL: origin + "/alice/", Avatar: origin + "/alice/media/x.png", Raw: "alice@example.com (Alice Doe)"}}
		if diff := cmp.Diff(want, d.feed().Items[0].Authors); diff != "" {
			t.Error(diff)
		}
		for _, wrong := range []string{"alice", "a b@example.com", "Alice <alice@example.com>", "alice@localhost"} {
			_, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { p.Email = wrong; return nil }, "test")
			d.wantRefusal(err, fault.Invalid, wrong)
		}
	})
}

func TestFeedContainsUpdateHints(t *testing.T) {
	t.Parallel()
	withHarness(t, func(t *testing.T, d *harness) {
		d.post("one")
		set := func(h author.Hints) error {
			_, err := d.SetProfile(d.ctx, "alice", func(p *author.Profile) error { p.Hints = h; return nil }, "test")
			return err
		}
		base := time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
		if err := set(author.Hints{TTL: 120, SkipHours: []int{23, 0, 23}, SkipDays: []string{"sunday", "Monday"}, UpdatePeriod: "Daily", UpdateFrequency: 2, UpdateBase: base}); err != nil {
			t.Fatal(err)
		}
		want := feed.Hints{TTL: "120", SkipHours: []string{"0", "23"}, SkipDays: []string{"Monday", "Sunday"}, UpdatePeriod: "daily", UpdateFrequency: "2",
			UpdateBase: feed.Date{Raw: "2026-01-01T11:00:00Z", UTC: base.UTC()}}
		if diff := cmp.Diff(want, d.feed().Hints); diff != "" {
			t.Error(diff)
		}
		w, err := d.Writer(d.ctx, "alice")
		if err != nil || w.Hints.TTL != 120 || !w.Hints.UpdateBase.Equal(base) {
			t.Errorf("stored: %+v, %v", w.Hints, err)
		}
		day := make([]int, 24)
		for i := range day {
			day[i] = i
		}
		for value, h := range map[string]author.Hints{
			"-5": {TTL: -5}, "525601": {TTL: 525601}, "24": {SkipHours: []int{24}}, "all 24": {SkipHours: day}, "Caturday": {SkipDays: []string{"Caturday"}},
			"all seven":   {SkipDays: []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}},
			"fortnightly": {UpdatePeriod: "fortnightly"}, "-1": {UpdatePeriod: "daily", UpdateFrequency: -1}, "7 needs a period": {UpdateFrequency: 7}, "2026-01-01": {UpdateBase: base},
		} {
			d.wantRefusal(set(h), fault.Invalid, value)
		}
		if err := set(author.Hints{}); err != nil {
			t.Fatal(err)
		}
		if h := d.feed().Hints; h.TTL != "" || len(h.SkipHours) > 0 || h.UpdatePeriod != "" {
			t.Errorf("the feed still has %+v", h)
		}
	})
}
