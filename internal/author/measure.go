package author

import (
	"strings"

	"github.com/rivo/uniseg"

	"cloudburst/internal/sanitize"
)

// Measure is the length of a post as its readers see it.
type Measure struct {
	// Characters counts grapheme clusters of the words: an emoji of several code points
	// is one character. URLs of links, enclosures and categories do not count.
	Characters int
	Limit      int // of a short post; 0: the post is not limited
	Over       bool
}

// measure counts a short post: one without a title and without an outline. c.HTML is
// already rendered.
//
// spec:rsscloud-2009#entries-140
func (p *Posts) measure(c *Content) Measure {
	text := sanitize.Text(c.HTML)
	if c.Link != "" && strings.Contains(text, c.Link) {
		text = withoutURL(text, c.Link)
	}
	m := Measure{Characters: uniseg.GraphemeClusterCount(text)}
	if p.LimitMode == LimitOff || c.Title != "" || len(c.Outline) > 0 {
		return m
	}
	m.Limit = p.limit()
	m.Over = m.Characters > m.Limit
	return m
}

func (p *Posts) limit() int {
	if p.Limit > 0 {
		return p.Limit
	}
	return 140
}

// besideURL is the punctuation that may stand directly before or after a URL in a text.
const besideURL = `.,;:!?()[]{}<>"'`

// withoutURL removes each word of text that is the URL u. Punctuation directly before or
// after the URL stays. A longer URL that contains u is another URL and stays.
func withoutURL(text, u string) string {
	words := strings.Fields(text)
	kept := words[:0]
	for _, word := range words {
		before, after, found := strings.Cut(word, u)
		if found && strings.Trim(before+after, besideURL) == "" {
			word = before + after
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
