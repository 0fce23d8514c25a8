package rivertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func riverSearchTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SearchFindsWords":                   riverTest(searches),
		"EmptySearchIsRejectedWithHelp":      riverTest(searchNothing),
		"SearchCanOnlyExcludeWords":          riverTest(searchExcluded),
		"ItemIsFoundAfterIndexing":           riverTest(indexLater),
		"EditedItemIsFoundByNewWordsOnly":    riverTest(searchEdited),
		"SearchObeysOtherConditions":         riverTest(searchWithin),
		"SearchTextIsNeverSyntax":            riverTest(searchSyntax),
		"SearchFindsAnyNumberOfStarredItems": riverTest(searchStars),
		"IndexItemsReturnsCount":             riverTest(indexCounts),
		"SearchContinuesInMiddleOfRiver":     riverTest(searchPages),
	}
}

// library adds items with these texts, newest first.
func (s *stream) library(reader, url string, texts ...string) river.Source {
	src := s.followFeed(reader, url)
	var put []river.Item
	for n, text := range texts {
		it := s.newItem(src.ID, n, s.In(-time.Duration(n)*time.Minute))
		it.Title, it.Text, _ = strings.Cut(text, "|")
		it.HTML = ""
		put = append(put, it)
	}
	s.readFeed(src.ID, put...)
	s.index()
	return src
}

func searches(t *testing.T, s *stream) {
	texts := []string{
		"Café in ZÜRICH|open at night", "Foo-bar and baz|state of the art", "東京タワー|日本語の文章", "don't panic|Wi-Fi 6e, C++ and C#",
		"numbers|1234 and v2.0", "the title|the body", "Straße|ﬁnal ﬁx", "Привет мир|ёлка", "한국어 문장|안녕하세요", "emoji ☂ only|🎉",
	}
	src := s.library("ann", feedURL(1), texts...)
	it := s.newItem(src.ID, 50, s.In(-time.Hour))
	it.Title, it.Text, it.Authors, it.Categories = "by", "", []string{"Jane Doe"}, []string{"gardening"}
	it.Enclosures, it.Nested = []river.Enclosure{{Title: "episode"}}, []river.Content{{Title: "quoted", Nested: []river.Content{{Text: "deeply"}}}}
	s.readFeed(src.ID, it)
	s.index()
	for match, want := range map[string]string{
		"cafe": "Café in ZÜRICH", "CAFÉ zurich": "Café in ZÜRICH", "zuri": "Café in ZÜRICH", "zuri night": "", "night zuri": "Café in ZÜRICH", "zur": "Café in ZÜRICH",
		"foo": "Foo-bar and baz", "foo-bar": "Foo-bar and baz", "bar-foo": "", `"bar and baz"`: "Foo-bar and baz", `"bar baz"`: "", `“bar and”`: "Foo-bar and baz",
		"foo-ba": "", "foo-baz": "", "東京": "東京タワー", "京東": "", "タワー": "東京タワー", "文章": "東京タワー", "don't": "don't panic", "dont": "",
		"wi-fi": "don't panic", "C++": "don't panic", "6e": "don't panic", "v2.0": "numbers", "1234": "numbers", "123": "numbers",
		"title -nothing": "the title", "title -body": "", "-body title": "the title|", "the": "the title|Foo-bar and baz", "straße": "Straße", "final": "Straße",
		"привет": "Привет мир", "елка": "Привет мир", "ПРИВ": "Привет мир", "한국어": "한국어 문장", "안녕": "한국어 문장", "jane doe": "by", "gardening": "by",
		"episode": "by", "quoted deeply": "by", `"title the"`: "", `"the title" "the body"`: "the title", "☂ emoji": "emoji ☂ only", `title -"the body"`: "",
		"emoji -panic -cafe": "emoji ☂ only", "title --body": "the title", "ti": "", "tit": "the title",
	} {
		want := strings.Split(strings.TrimSuffix(want, "|"), "|")
		if match == "-body title" {
			want = []string{""}
		}
		got := s.titles(river.ItemQuery{Reader: "ann", Match: match})
		slices.Sort(want)
		slices.Sort(got)
		if want[0] == "" {
			want = []string{}
		}
		storetest.Same(t, fmt.Sprintf("%q", match), got, want)
	}
}

func searchNothing(t *testing.T, s *stream) {
	s.library("ann", feedURL(1), "a|b")
	for _, match := range []string{"-a", "-a -b", "!!!", `""`, "☂", "-", `-"a b"`, strings.Repeat("a ", 70), strings.Repeat("a", 2001), "\x00"} {
		_, err := s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Match: match})
		storetest.WantFault(t, err, fault.Invalid)
	}
	storetest.Same(t, "nothing to look for is no search", len(s.ask(river.ItemQuery{Reader: "ann", Match: "  \t"})), 1)
}

func searchExcluded(t *testing.T, s *stream) {
	a := s.library("ann", feedURL(1), "one|red", "two|blue", "three|red chalk", "four|blue chalk")
	b := s.library("ann", feedURL(2), "five|red")
	s.library("ann", feedURL(3), "six|green")
	_, err := s.ChangeSubscription(s.Ctx, "ann", a.ID, func(f *river.Subscription) error {
		f.Categories = []string{"c"}
		return nil
	})
	storetest.Must(t, err)
	all := s.ask(river.ItemQuery{Reader: "ann", SourceID: a.ID})
	yes := true
	s.markItems("ann", []int64{all[0].ID}, &yes, nil)
	s.markItems("ann", []int64{all[1].ID, all[2].ID}, nil, &yes)
	for match, restrictions := range map[string]map[string]river.ItemQuery{
		"two four": {"source": {SourceID: a.ID}, "category": {Category: "c"}, "categories": {Categories: []string{"c"}}},
		"two":      {"starred": {Starred: true}, "numbers": {Starred: true, BySeq: true}, "ids": {IDs: []int64{all[0].ID, all[1].ID, all[2].ID}}},
		"one":      {"read": {Read: true, Match: "-blue"}},
		"two four six": {"unread": {Unread: true}, "times": {From: s.In(-time.Hour), Unread: true}, "old": {From: s.In(-time.Hour)},
			"changed": {ChangedIn: 1, Unread: true, BySeq: true}},
		"four":  {"phrase": {SourceID: a.ID, Match: `-red -two`}, "before": {SourceID: a.ID, Before: all[1].Place()}},
		"three": {"two phrases": {SourceID: a.ID, Match: `-"blue chalk" -two -one`}},
		"":      {"sources": {Sources: []int64{b.ID}}},
	} {
		for what, q := range restrictions {
			if q.Reader = "ann"; q.Match == "" {
				q.Match = "-red"
			}
			got := s.titles(q)
			slices.Sort(got)
			want := strings.Fields(match)
			slices.Sort(want)
			storetest.Same(t, what, got, append([]string{}, want...))
		}
	}
	storetest.Same(t, "limit", len(s.ask(river.ItemQuery{Reader: "ann", Unread: true, Match: "-red", Limit: 2})), 2)
	_, err = s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Match: "-red"})
	storetest.WantFault(t, err, fault.Invalid)
}

func indexLater(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 3)...)
	storetest.Same(t, "before the due time", s.titles(river.ItemQuery{Reader: "ann", Match: "title"}), []string{})
	n, err := s.IndexItems(s.Ctx, 2)
	storetest.Same(t, "the newest first", []any{n, err, s.titles(river.ItemQuery{Reader: "ann", Match: "title"})}, []any{2, error(nil), []string{"Title 0", "Title 1"}})
	s.index()
	storetest.Same(t, "all", len(s.ask(river.ItemQuery{Reader: "ann", Match: "title"})), 3)
}

func indexCounts(t *testing.T, s *stream) {
	n, err := s.IndexItems(s.Ctx, 10)
	storetest.Same(t, "none", []any{n, err}, []any{0, error(nil)})
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 130)...)
	for _, want := range []int{100, 30, 0} {
		n, err := s.IndexItems(s.Ctx, 100)
		storetest.Same(t, "indexed", []any{n, err}, []any{want, error(nil)})
	}
}

func searchEdited(t *testing.T, s *stream) {
	src := s.library("ann", feedURL(1), "early|words", "other|words")
	it := s.newItem(src.ID, 0, s.Now)
	it.Title, it.Text = "late", "words"
	s.readFeed(src.ID, it)
	s.index()
	storetest.Same(t, "old", s.titles(river.ItemQuery{Reader: "ann", Match: "early"}), []string{})
	storetest.Same(t, "new", s.titles(river.ItemQuery{Reader: "ann", Match: "late"}), []string{"late"})
	storetest.Same(t, "both", s.titles(river.ItemQuery{Reader: "ann", Match: "words"}), []string{"late", "other"})
}

func searchWithin(t *testing.T, s *stream) {
	a := s.library("ann", feedURL(1), "word one", "word two")
	b := s.library("bob", feedURL(2), "word three")
	s.followFeed("ann", feedURL(3), "c")
	storetest.Same(t, "reader", s.titles(river.ItemQuery{Reader: "bob", Match: "word"}), []string{"word three"})
	storetest.Same(t, "source", s.titles(river.ItemQuery{Reader: "ann", Match: "word", SourceID: b.ID}), []string{})
	storetest.Same(t, "sources", s.titles(river.ItemQuery{Reader: "ann", Match: "word", Sources: []int64{a.ID, b.ID}}), []string{"word one", "word two"})
	storetest.Same(t, "category", s.titles(river.ItemQuery{Reader: "ann", Match: "word", Category: "c"}), []string{})
	ids := s.ask(river.ItemQuery{Reader: "ann"})
	storetest.Same(t, "ids", s.titles(river.ItemQuery{Reader: "ann", Match: "two", IDs: []int64{ids[0].ID, ids[1].ID}}), []string{"word two"})
}

func searchSyntax(t *testing.T, s *stream) {
	s.library("ann", feedURL(1), "and or not near words item rowid|a b c")
	for _, match := range []string{`AND`, `NOT`, `or "`, `near(a, 5)`, `words:a`, `{words}: a`, `^and`, `a*`, `a + b`, `(a`, `a)`, `'a'`, `a & b`, `a | b`, `!a`, `a <-> b`, `a:*`,
		`"a" "b`, `a OR b`, `a;b`, `a\`, `\'a`, `a''b`, "a\x00b", "a\xffb", `\`, `%a%`, `$1 a`, "a\u2028b", "\uE000a", "a \uE001"} {
		_, err := s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Match: match})
		if err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", match, err)
		}
	}
	for match, n := range map[string]int{"AND": 1, "a OR b": 1, "a AND x": 0, "NOT a": 1, "a*": 1, "words:a": 0, "a & b": 1} {
		storetest.Same(t, match, len(s.ask(river.ItemQuery{Reader: "ann", Match: match})), n)
	}
}

func searchStars(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 700)
	s.readFeed(src.ID, put...)
	s.index()
	yes := true
	for _, n := range []int{1, 20, 650} {
		s.markItems("ann", ids(put)[:n], nil, &yes)
		storetest.Same(t, "starred", len(s.ask(river.ItemQuery{Reader: "ann", Match: "title", Starred: true, Limit: 1000})), n)
		storetest.Same(t, "a page", len(s.ask(river.ItemQuery{Reader: "ann", Match: "title", Starred: true, Limit: 10})), min(n, 10))
		storetest.Same(t, "one", s.titles(river.ItemQuery{Reader: "ann", Match: "7", Starred: true}), map[bool][]string{true: {"Title 7"}, false: {}}[n > 7])
	}
}

func searchPages(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	other := s.followFeed("bob", feedURL(2))
	s.readFeed(other.ID, s.items(other.ID, 0, 900)...)
	s.readFeed(src.ID, s.items(src.ID, 300, 330)...)
	s.index()
	var got []string
	q := river.ItemQuery{Reader: "ann", Match: "title", Limit: 7}
	for page := s.ask(q); len(page) > 0; page = s.ask(q) {
		for _, e := range page {
			got = append(got, e.Title)
		}
		q.Before = page[len(page)-1].Place()
	}
	storetest.Same(t, "found", []any{len(got), got[0], got[29]}, []any{30, "Title 300", "Title 329"})
}
