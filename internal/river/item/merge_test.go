package item

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
)

// mergeRig holds the stored items of one feed, so that tests can merge documents without a store.
type mergeRig struct {
	items map[int64]Item
	last  []Known
	now   time.Time
	read  bool
}

func newMergeRig() *mergeRig {
	return &mergeRig{items: map[int64]Item{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

const rigID = 42

// merge merges a document as a check does that runs one hour after the last one.
func (s *mergeRig) merge(f *feed.Feed, partial bool) Merged {
	s.now = s.now.Add(time.Hour)
	m := Merge{
		Source: rigID, Last: s.last, Feed: f, Now: s.now, First: !s.read, Partial: partial,
		Content: func(it *feed.Item) Content {
			return Content{Title: it.Title.Value, Link: it.Link, HTML: it.Summary.Value, Published: it.Published.UTC}
		},
	}
	m.Read()
	m.Known = map[int64]Item{}
	for _, id := range m.Unsure() {
		if it, ok := s.items[id]; ok {
			m.Known[id] = Item{Hash: it.Hash, At: it.At, ReadAt: it.ReadAt, EditedAt: it.EditedAt, WithdrawnAt: it.WithdrawnAt}
		}
	}
	out := m.Result()
	for _, it := range out.Put {
		s.items[it.ID] = it
	}
	for _, it := range out.Withdrawn {
		was := s.items[it.ID]
		was.WithdrawnAt = it.WithdrawnAt
		s.items[it.ID] = was
	}
	s.last, s.read = out.Last, true
	return out
}

// list returns the displayed items, newest first. It marks edited items with * and withdrawn
// items with -.
func (s *mergeRig) list() string {
	all := slices.SortedFunc(maps.Values(s.items), func(a, b Item) int { return b.At.Compare(a.At) })
	var out []string
	for _, it := range all {
		t := it.Title
		if !it.EditedAt.IsZero() {
			t += "*"
		}
		if !it.WithdrawnAt.IsZero() {
			t += "-"
		}
		out = append(out, t)
	}
	return strings.Join(out, " ")
}

// docOf returns a feed. Each word has the form "id=title@hour", where title and hour are
// optional.
func docOf(words ...string) *feed.Feed {
	f := &feed.Feed{Format: feed.RSS}
	for _, w := range words {
		rest, hour, dated := strings.Cut(w, "@")
		id, title, _ := strings.Cut(rest, "=")
		it := feed.Item{ID: id, Title: feed.Text{Value: cmp.Or(title, id)}}
		if dated {
			var h int
			fmt.Sscan(hour, &h)
			it.Published.UTC = time.Date(2026, 2, 1, h, 0, 0, 0, time.UTC)
		}
		f.Items = append(f.Items, it)
	}
	return f
}

func TestItemsAreMergedByID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		docs [][]string
		want string
	}{
		"a first document keeps its order":             {[][]string{{"c", "b", "a"}}, "c b a"},
		"the oldest first":                             {[][]string{{"a@1", "b@2", "c@3"}}, "c b a"},
		"new items first":                              {[][]string{{"b", "a"}, {"d", "c", "b", "a"}}, "d c b a"},
		"new items last":                               {[][]string{{"a@1", "b@2"}, {"a@1", "b@2", "c@3", "d@4"}}, "d c b a"},
		"an edit keeps its position":                   {[][]string{{"c", "b", "a"}, {"c", "b=better", "a"}}, "c better* a"},
		"a changed date is not an edit":                {[][]string{{"b@2", "a@1"}, {"b@3", "a@1"}}, "b a"},
		"items dropped at the end stay":                {[][]string{{"c", "b", "a"}, {"d", "c", "b"}}, "d c b a"},
		"items dropped at the beginning stay":          {[][]string{{"a@1", "b@2", "c@3"}, {"b@2", "c@3", "d@4"}}, "d c b a"},
		"undated items dropped at the beginning":       {[][]string{{"a", "b", "c"}, {"b", "c", "d"}}, "d a b c"},
		"an item removed from the middle is withdrawn": {[][]string{{"c", "b", "a"}, {"c", "a"}}, "c b- a"},
		"an item removed from the top is withdrawn":    {[][]string{{"c@3", "b@2", "a@1"}, {"b@2", "a@1"}}, "c- b a"},
		"withdrawn and back":                           {[][]string{{"c", "b", "a"}, {"c", "a"}, {"c", "b", "a"}}, "c b a"},
		"a shorter list":                               {[][]string{{"e", "d", "c", "b", "a"}, {"e", "d"}}, "e d c b a"},
		"most items removed":                           {[][]string{{"e", "d", "c", "b", "a"}, {"a"}}, "e d c b a"},
		"a list not sorted by age":                     {[][]string{{"c@1", "b@3", "a@2"}, {"c@1", "a@2", "d@1"}}, "d b a c"},
		"an undated list not sorted by age":            {[][]string{{"c", "b", "a"}, {"a", "c"}}, "c b a"},
		"an id twice: the first counts":                {[][]string{{"a", "b", "a=other"}}, "a b"},
		"an id twice, later":                           {[][]string{{"a"}, {"a", "a=other"}}, "a"},
		"new IDs in each document":                     {[][]string{{"1=x", "2=y", "3=z"}, {"4=x", "5=y", "6=z"}, {"7=w", "8=x", "9=y"}}, "w x y z"},
		"an empty document":                            {[][]string{{"b", "a"}, {}, {"b", "a"}}, "b a"},
		"two alternating versions":                     {[][]string{{"b", "a"}, {"c", "b"}, {"b", "a"}, {"c", "b"}}, "c b a"},
		"an old item returns":                          {[][]string{{"b", "a"}, {"c", "b"}, {"d", "c"}, {"d", "c", "b", "a"}}, "d c b a"},
		"a future date counts as now":                  {[][]string{{"b@9999", "a@1"}}, "b a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeRig()
			for _, d := range c.docs {
				s.merge(docOf(d...), false)
				again := s.merge(docOf(d...), false)
				if len(again.Put)+len(again.Withdrawn) > 0 {
					t.Errorf("the same document twice: %+v", again)
				}
			}
			if got := s.list(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestKnownItemsWithNewIDsAndLinksAreNotNew(t *testing.T) {
	t.Parallel()
	s := newMergeRig()
	session := func(n int) *feed.Feed {
		f := docOf("a", "b", "c")
		for i := range f.Items {
			it := &f.Items[i]
			it.ID = fmt.Sprintf("%s;session=%d", it.ID, n)
			it.Link = "http://feeds.test/" + it.ID
		}
		return f
	}
	for n := range 5 {
		if got := s.merge(session(n), false); n > 0 && len(got.Put)+len(got.Withdrawn) > 0 {
			t.Errorf("check %d: %+v", n, got)
		}
	}
	f := session(6)
	f.Items = append(docOf("new").Items, f.Items...)
	if got := s.merge(f, false); got.Fresh != 1 || got.Put[0].Title != "new" {
		t.Errorf("%+v", got)
	}
}

func TestAtomTombstonesWithdrawItems(t *testing.T) {
	t.Parallel()
	s := newMergeRig()
	s.merge(docOf("c", "b", "a"), false)
	f := docOf("c", "b")
	f.Unknown = []feed.Node{{Space: "http://purl.org/atompub/tombstones/1.0", Name: "deleted-entry", Attrs: []feed.Attr{{Name: "ref", Value: "a"}, {Name: "when", Value: "x"}}}}
	for range 2 {
		s.merge(f, false)
		if got := s.list(); got != "c b a-" {
			t.Errorf("%s", got)
		}
	}
}

func TestPartialFeedWithdrawsNoItems(t *testing.T) {
	t.Parallel()
	s := newMergeRig()
	s.merge(docOf("c", "b", "a"), false)
	if got := s.merge(docOf("d", "a"), true); got.Fresh != 1 || len(got.Withdrawn) != 0 || len(got.Last) != 4 {
		t.Errorf("%+v", got)
	}
	if got := s.list(); got != "d c b a" {
		t.Errorf("%s", got)
	}
}

func TestItemsOfTheFirstCheckAreSortedByDateAndLaterItemsByCheckTime(t *testing.T) {
	t.Parallel()
	s := newMergeRig()
	s.merge(docOf("b@5", "a@5"), false)
	first := s.items[ID(rigID, "b")]
	if want := time.Date(2026, 2, 1, 5, 0, 0, 0, time.UTC); !first.At.Equal(want) || !first.ReadAt.Equal(s.now) {
		t.Errorf("at %v, read %v", first.At, first.ReadAt)
	}
	if second := s.items[ID(rigID, "a")]; !second.At.Before(first.At) {
		t.Error("two items share a position")
	}
	s.merge(docOf("c@7", "b@5", "a@5"), false)
	if it := s.items[ID(rigID, "c")]; !it.At.Equal(s.now) {
		t.Errorf("a later item is at %v", it.At)
	}
	s.merge(docOf("c@7", "b=better@5", "a@5"), false)
	if it := s.items[ID(rigID, "b")]; !it.At.Equal(first.At) || !it.ReadAt.Equal(first.ReadAt) || !it.EditedAt.Equal(s.now) {
		t.Errorf("an edit moved the item: %+v", it)
	}
}

// FuzzMerge checks two properties: Merge loses no new item, and merging the same document twice
// changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add("a b c", "d a b", "a")
	f.Add("a@1 b@2 c@3", "b@2 d@4", "a=x b=y")
	f.Add("1=x 2=y 3=z", "4=x 5=y 6=z 7=w", "")
	f.Add("a a b=a", "a=b b=a", "c a=b")
	f.Add("a", "a", "b=a c=a") // a renamed item, and a new item with the same content
	f.Fuzz(func(t *testing.T, one, two, three string) {
		s := newMergeRig()
		shown := map[string]bool{}
		for i, doc := range []string{one, two, three} {
			if len(doc) > 400 {
				return
			}
			d := docOf(strings.Fields(doc)...)
			partial := i == 1 && len(doc)%2 == 1
			s.merge(d, partial)
			here := map[string]bool{}
			for j := range d.Items {
				if id := d.Items[j].ID; !here[id] {
					here[id] = true
					shown[d.Items[j].Title.Value] = true
				}
			}
			titles := map[string]bool{}
			for _, it := range s.items {
				titles[it.Title] = true
			}
			for j := range d.Items {
				it := &d.Items[j]
				if _, kept := s.items[ID(rigID, it.ID)]; !kept && !titles[it.Title.Value] && shown[it.Title.Value] && first(d, j) {
					t.Fatalf("%q is lost after %q, %q, %q", it.Title.Value, one, two, three)
				}
			}
			if again := s.merge(d, partial); len(again.Put)+len(again.Withdrawn) > 0 {
				t.Fatalf("merging twice changed %+v of %q", again, doc)
			}
			if len(s.last) > maxLast {
				t.Fatalf("%d items are remembered", len(s.last))
			}
		}
	})
}

// first reports whether item j is the first item with its ID.
func first(f *feed.Feed, j int) bool {
	return slices.IndexFunc(f.Items, func(it feed.Item) bool { return it.ID == f.Items[j].ID }) == j
}

// An item without an ID is stored under a hash of its texts. Earlier versions computed the hash
// from the resolved texts. Merge must find such an item again, even if the item was edited since.
func TestItemsStoredUnderFormerHashedIDsAreNotNew(t *testing.T) {
	t.Parallel()
	read := func(body, url string) *feed.Feed {
		doc := `<rss version="2.0"><channel><title>C</title><item><title>&lt;a href="/b"&gt;News&lt;/a&gt;</title>` +
			`<pubDate>Fri, 20 Nov 2026 08:30:00 GMT</pubDate><description>` + body + `</description></item>` +
			`<item><description>&lt;img src="p.png"&gt;</description></item></channel></rss>`
		f, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	s := newMergeRig()
	before := read("one", "http://h.example/feed")
	for i := range before.Items {
		before.Items[i].ID, before.Items[i].IDFrom = before.Items[i].FormerID(before.Base), feed.FromID
	}
	s.merge(before, false)
	if got := s.merge(read("two", "http://h.example/feed"), false); got.Fresh != 0 || got.Edited != 1 || len(got.Withdrawn) != 0 {
		t.Errorf("after the rule changed: %+v", got)
	}
	for range 2 {
		if got := s.merge(read("two", "http://h.example/feed"), false); len(got.Put)+len(got.Withdrawn) != 0 {
			t.Errorf("the same document again: %+v", got)
		}
	}
	if len(s.items) != 2 {
		t.Errorf("%d items are stored, want 2", len(s.items))
	}
}

func TestItemsWithHashedIDsSurviveAMoveToHTTPS(t *testing.T) {
	t.Parallel()
	s := newMergeRig()
	for _, url := range []string{"http://h.example/feed", "https://h.example/feed", "https://other.example/feed"} {
		f, err := feed.ParseBytes([]byte(`<rss version="2.0"><channel><title>C</title>`+
			`<item><description>&lt;img src="p.png"&gt;</description></item></channel></rss>`), &feed.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		s.merge(f, false)
	}
	if len(s.items) != 1 {
		t.Errorf("%d items are stored, want 1", len(s.items))
	}
}

// Earlier versions resolved a guid that is not a URL. Merge must find items that they stored, and new
// items when the feed moves.
func TestItemsWithRelativeGUIDsKeepTheirIdentity(t *testing.T) {
	t.Parallel()
	read := func(text, url string) *feed.Feed {
		f, err := feed.ParseBytes([]byte(`<rss version="2.0"><channel><title>C</title><item><guid>ep-1</guid><title>One</title><description>`+text+
			`</description></item><item><guid>ep-2</guid><title>Two</title></item></channel></rss>`), &feed.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, former := range map[string]bool{"stored by an earlier version": true, "stored by this version": false} {
		s := newMergeRig()
		before := read("one", "http://h.example/m1/feed")
		for i := range before.Items {
			if former {
				before.Items[i].ID = before.Items[i].FormerID(before.Base)
			}
		}
		s.merge(before, false)
		moved := "http://h.example/m1/feed"
		if !former {
			moved = "https://o.example/m2/feed"
		}
		if got := s.merge(read("two", moved), false); got.Fresh != 0 || got.Edited != 1 || len(got.Withdrawn) != 0 {
			t.Errorf("%s: a changed description: %+v", name, got)
		}
		if got := s.merge(read("two", moved), false); len(got.Put)+len(got.Withdrawn) != 0 || len(s.items) != 2 {
			t.Errorf("%s: the same document again: %d items, %+v", name, len(s.items), got)
		}
	}
}

// Earlier versions stored a person twice if several elements of an item name them.
func TestPersonsThatEarlierVersionsRepeatedAreNotEdits(t *testing.T) {
	t.Parallel()
	read := func(name string) *feed.Feed {
		f, err := feed.ParseBytes([]byte(`<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>C</title>`+
			`<item><guid>1</guid><title>One</title><author>`+name+`</author><itunes:author>`+name+`</itunes:author></item>`+
			`<item><guid>2</guid><title>Two</title><dc:creator>`+name+`</dc:creator><dc:creator>Carol</dc:creator><itunes:author>`+name+`</itunes:author></item>`+
			`<item><guid>3</guid><title>Three</title></item></channel></rss>`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for repeats := range 4 {
		s := newMergeRig()
		before := read("Alice")
		for i := range before.Items[:2] {
			who := &before.Items[i].Authors
			*who = append(*who, slices.Repeat((*who)[:1], repeats)...)
		}
		s.merge(before, false)
		for _, last := range [][]Known{s.last, {}} { // the second time, the items return after a document without them
			s.last = last
			if got := s.merge(read("Alice"), false); len(got.Put)+len(got.Withdrawn) != 0 {
				t.Errorf("%d repeats: %+v", repeats, got)
			}
		}
		if got := s.merge(read("Bob"), false); got.Edited != 2 {
			t.Errorf("%d repeats: another author: %+v", repeats, got)
		}
	}
}
