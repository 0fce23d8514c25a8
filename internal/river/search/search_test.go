package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
)

func TestReadExtractsSearchTerms(t *testing.T) {
	t.Parallel()
	for match, want := range map[string]Words{
		"":                             {},
		"blue chalk":                   {Rest: "blue chalk"},
		`  "blue  chalk" -red bl`:      {Rest: `"blue  chalk" -red bl`},
		"feed:„My Feed“ x":             {Rest: "x", Feeds: []string{"My Feed"}},
		"“feed:x y” z":                 {Rest: "“feed:x y” z"},
		"feed:chalk blue":              {Rest: "blue", Feeds: []string{"chalk"}},
		`blue feed:"The Chalk  log" x`: {Rest: "blue x", Feeds: []string{"The Chalk log"}},
		"FEED:a feed:b Category:News":  {Feeds: []string{"a", "b"}, Categories: []string{"News"}},
		"is:starred is:Unread x":       {Rest: "x", Starred: true, Unread: true},
		"is:read":                      {Read: true},
		"http://x.example/feed:1":      {Rest: "http://x.example/feed:1"},
		`"feed:x" y`:                   {Rest: `"feed:x" y`},
		"-feed:x":                      {Rest: "-feed:x"},
		`feed:"open end`:               {Feeds: []string{"open end"}},
		"12:30 a:b":                    {Rest: "12:30 a:b"},
		"feed:https://a.example/x":     {Feeds: []string{"https://a.example/x"}},
	} {
		got, err := Read(match)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q: %v\n%s", match, err, d)
		}
	}
	for _, bad := range []string{"feed:", "x category: y", `feed:""`, "is:", "is:nice", strings.Repeat("a", 501), strings.Repeat("feed:a ", 11)} {
		if _, err := Read(bad); fault.CodeOf(err) != fault.Invalid || err == nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`blue -red "a b" feed:"two words" category:News is:starred`)
	f.Fuzz(func(t *testing.T, match string) {
		w, err := Read(match)
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid {
				t.Fatal(err)
			}
			return
		}
		again, err := Read(w.Rest)
		if err != nil || again.Rest != w.Rest || again.Feeds != nil || again.Categories != nil || again.Starred || again.Unread || again.Read {
			t.Fatalf("the rest of %q is %q, which parses as %+v: %v", match, w.Rest, again, err)
		}
		for _, name := range append(w.Feeds, w.Categories...) {
			if name == "" || len(name) > maxMatch {
				t.Fatalf("%q names %q", match, name)
			}
		}
	})
}
