package rules

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"cloudburst/internal/author/markup"
	"cloudburst/internal/fault"
)

// Measure is the length of a post as its readers see it.
type Measure struct {
	// Characters counts grapheme clusters of the visible text: an emoji of several code points is
	// one character. URLs of links, enclosures and categories do not count.
	Characters int
	Limit      int // maximum characters of a short post; 0: no limit
	Over       bool
}

// Warning returns the warning about a post that is published although it exceeds the limit; "": the
// post is within the limit. Every interface that publishes posts reports the warning.
func (m Measure) Warning() string {
	if !m.Over {
		return ""
	}
	return m.overrun() + " It is published anyway."
}

// Refusal returns the fault.Invalid for a post that is not published because it exceeds the limit;
// nil: the post is within the limit.
func (m Measure) Refusal() error {
	if !m.Over {
		return nil
	}
	return fault.In(fault.New(fault.Invalid, "%s Shorten it, or give it a title.", m.overrun()), "source")
}

func (m Measure) overrun() string {
	return fmt.Sprintf("The post has %d characters; short posts have at most %d here.", m.Characters, m.Limit)
}

// Measure returns the length of the text of a short post, which has neither a title nor an outline.
// link is the URL of the page that the post is about, which does not count. limit is the maximum
// number of characters; 0: no limit.
//
// spec:rsscloud-2009#entries-140
func (r Rules) Measure(text, link string, limit int) Measure {
	if link != "" && strings.Contains(text, link) {
		text = withoutURL(text, link)
	}
	m := Measure{Characters: r.count(text), Limit: limit}
	m.Over = limit > 0 && m.Characters > limit
	return m
}

// count returns the number of grapheme clusters of a text. URLs count as r.URLs states.
func (r Rules) count(text string) int {
	if r.URLs == URLsFull {
		return uniseg.GraphemeClusterCount(text)
	}
	n := 0
	rest := markup.URL.ReplaceAllStringFunc(text, func(string) string {
		if r.URLs == URLsShort {
			n += shortURL
		}
		return "\n" // a line break forms no cluster with its neighbors
	})
	return n + uniseg.GraphemeClusterCount(strings.ReplaceAll(rest, "\n", ""))
}

// urlPunctuation is the punctuation that may directly precede or follow a URL in a text.
const urlPunctuation = `.,;:!?()[]{}<>"'`

// withoutURL removes each word of text that is the URL u. Punctuation directly before or
// after the URL stays. A longer URL that contains u is another URL and stays.
func withoutURL(text, u string) string {
	words := strings.Fields(text)
	kept := words[:0]
	for _, word := range words {
		before, after, found := strings.Cut(word, u)
		if found && strings.Trim(before+after, urlPunctuation) == "" {
			word = before + after
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
