package riversql

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/search"
)

func split(text string) (all []string) {
	search.Split(text, func(w string, _ bool) bool {
		all = append(all, w)
		return true
	})
	return all
}

func TestSearchWordsAreFoldedAndSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                       nil,
		"Hello, World!":          {"hello", "world"},
		"Café ÅNGSTRÖM":          {"cafe", "angstrom"},
		"e\u0301te\u0301":        {"ete"},
		"don't state-of-the-art": {"don", "t", "state", "of", "the", "art"},
		"東京 タワー":                 {"東", "京", "タ", "ワ", "ー"},
		"abc日def":                {"abc", "日", "def"},
		"ｆｕｌｌ ﬁ ²":               {"full", "fi", "2"},
		"\xffa\x00b\u200bc":      {"a", "b", "c"},
		"ไทย":                    {"ไ", "ท", "ย"},
		"x_y <b>":                {"x", "y", "b"},
		strings.Repeat("a", 100): {strings.Repeat("a", 64)},
		strings.Repeat("日", 2):   {"日", "日"},
		"\uE000beef\uE001":       {"beef"},
	} {
		if d := cmp.Diff(want, split(text)); d != "" {
			t.Errorf("%q (- want, + got):\n%s", text, d)
		}
	}
}

func TestSearchQueryUsesTheSyntaxOfTheDatabase(t *testing.T) {
	t.Parallel()
	for match, want := range map[string][2]string{
		`word`:               {`("word" *)`, `(('word':*))`},
		`one two`:            {`("one" AND "two" *)`, `(('one') & ('two':*))`},
		`"one two" -three`:   {`(("one two") NOT "three")`, `((('one' <-> 'two')) & !('three'))`},
		`-"a b" c -d`:        {`((("c") NOT "a b") NOT "d")`, `(((('c')) & !('a' <-> 'b')) & !('d'))`},
		`state-of "`:         {`("state of")`, `(('state' <-> 'of'))`},
		`日本`:                 {`("日 本")`, `(('日' <-> '本'))`},
		`AND OR' NOT*`:       {`("and" AND "or" AND "not" *)`, `(('and') & ('or') & ('not':*))`},
		"abc\u00a0def\u2003": {`("abc" AND "def" *)`, `(('abc') & ('def':*))`},
	} {
		terms, err := readMatch(match)
		if err != nil {
			t.Errorf("%q: %v", match, err)
			continue
		}
		if d := cmp.Diff(want, [2]string{FTS5.query(terms, nil), TSVector.query(terms, nil)}); d != "" {
			t.Errorf("%q (- want, + got):\n%s", match, d)
		}
	}
	terms, err := readMatch("word")
	if err != nil {
		t.Fatal(err)
	}
	want := [2]string{"((\"\uE000ff\" OR \"\uE0001\") AND \"word\" *)", "((('\uE000ff') | ('\uE0001')) & ('word':*))"}
	if d := cmp.Diff(want, [2]string{FTS5.query(terms, []int64{255, 1}), TSVector.query(terms, []int64{255, 1})}); d != "" {
		t.Errorf("query with sources (- want, + got):\n%s", d)
	}
}

func TestSearchDocumentSeparatesTheTitle(t *testing.T) {
	t.Parallel()
	it := river.Item{SourceID: 255, Content: river.Content{Title: "One two", Text: "two three two", Authors: []string{"Me"}}}
	if d := cmp.Diff("\uE000ff one two \uE001 two three two \uE001 me \uE001", FTS5.document(&it)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("'\uE000ff':1A 'one':2A 'two':3A,5,7 'three':6 'me':9 ", TSVector.document(&it)); d != "" {
		t.Error(d)
	}
	it.Text = strings.Repeat("word ", 100_000)
	if n := len(strings.Fields(FTS5.document(&it))); n > maxWords+5 {
		t.Errorf("%d words", n)
	}
	if n := len(TSVector.document(&it)); n > 2000 {
		t.Errorf("a repeated word takes %d bytes", n)
	}
}

// These expressions match the quoted parts in the syntax of either database.
var (
	quoted = regexp.MustCompile(`"[\p{L}\p{N} ]+"|'[\p{L}\p{N}]+'`)
	syntax = regexp.MustCompile(`^(\(|\)| AND | NOT | \*|:\*| & | <-> |!)*$`)
)

func FuzzSearchQuery(f *testing.F) {
	f.Add(`one "two three" -four fi`)
	f.Fuzz(func(t *testing.T, text string) {
		terms, err := readMatch(text)
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Errorf("got error %v", err)
			}
			return
		}
		for _, d := range []Words{FTS5, TSVector} {
			q := d.query(terms, nil)
			if rest := quoted.ReplaceAllString(q, ""); !syntax.MatchString(rest) || !utf8.ValidString(q) {
				t.Errorf("%q becomes %q, with %q outside of quotes", text, q, rest)
			}
		}
	})
}

func FuzzSearchDocument(f *testing.F) {
	f.Add("a title", "and its text")
	f.Fuzz(func(t *testing.T, title, text string) {
		it := river.Item{SourceID: 1, Content: river.Content{Title: title, Text: text}}
		doc := FTS5.document(&it)
		if again := strings.Join(strings.Fields(doc), " "); again != doc || !utf8.ValidString(doc) {
			t.Errorf("%q is not a list of words", doc)
		}
		if v := TSVector.document(&it); strings.Count(v, "'") != 2*strings.Count(v, "':") || !utf8.ValidString(v) {
			t.Errorf("%q is not a tsvector", v)
		}
	})
}
