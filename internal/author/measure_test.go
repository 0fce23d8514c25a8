package author_test

import (
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestLimitCountsCharactersAsReadersSeeThem(t *testing.T) {
	t.Parallel()
	const link = "http://example.com/a-page-with-a-long-address?of=1&and=more"
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		source, link string
		want         int
	}{
		"140 letters":                       {x(140), "", 140},
		"141 letters":                       {x(141), "", 141},
		"140 emoji":                         {strings.Repeat("\U0001F327", 140), "", 140},
		"140 letters with combining accent": {strings.Repeat("e\u0301", 140), "", 140},
		"70 families":                       {strings.Repeat("\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466", 70), "", 70},
		"140 flags":                         {strings.Repeat("\U0001F1E9\U0001F1EA", 140), "", 140},
		"141 emoji with skin tone":          {strings.Repeat("\U0001F44D\U0001F3FD", 141), "", 141},
		"the URL of the link":               {x(140) + " " + link, link, 140},
		"the URL of the link in front":      {link + " " + x(140), link, 140},
		"the URL of the link, twice":        {link + " " + x(10) + "\n\n" + link, link, 10},
		"the URL of the link in brackets":   {x(10) + " (" + link + ").", link, 14},
		"only the URL of the link":          {link, link, 0},
		"a URL that is not the link":        {"x " + link, "http://example.com/", 2 + len(link)},
		"a longer URL":                      {"x " + link + "&x", link, 2 + len(link) + 2},
		"a URL without a link":              {"x " + link, "", 2 + len(link)},
		"a URL in a link text":              {"[words](" + link + ")", "", 5},
	} {
		for _, f := range []author.Format{author.Markdown, author.Plain} {
			if f == author.Plain && strings.Contains(c.source, "](") {
				continue
			}
			_, m, err := (&author.Posts{}).Preview(author.Content{Source: c.source, Link: c.link, Format: f})
			if err != nil {
				t.Errorf("%s (%s): %v", name, f, err)
				continue
			}
			if m.Characters != c.want || m.Limit != 140 || m.Over != (c.want > 140) {
				t.Errorf("%s (%s): %+v, want %d characters", name, f, m, c.want)
			}
		}
	}
}
