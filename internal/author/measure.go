package author

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
)

// Measure is the length of a post as its readers see it.
type Measure struct {
	// Characters counts grapheme clusters of the visible text: an emoji of several code points is
	// one character. URLs of links, enclosures and categories do not count.
	Characters int
	Limit      int // limit of a short post; 0: no limit
	Over       bool
}

// Warning is the sentence about a post that is published although it is over the limit;
// "" for a post within the limit. Every interface that publishes posts reports it.
func (m Measure) Warning() string {
	if !m.Over {
		return ""
	}
	return m.overrun() + " It is published anyway."
}

// Refusal is the fault.Invalid about a post that is not published because it is over the
// limit; nil for a post within the limit.
func (m Measure) Refusal() error {
	if !m.Over {
		return nil
	}
	return fault.In(fault.New(fault.Invalid, "%s Shorten it, or give it a title.", m.overrun()), "source")
}

func (m Measure) overrun() string {
	return fmt.Sprintf("The post has %d characters; short posts have at most %d here.", m.Characters, m.Limit)
}

// Warning is [Measure.Warning] of a post that is published or scheduled; "" for any other.
func (p *Posts) Warning(post Post) string {
	if !post.State.HasReaders() && post.State != Scheduled || post.Title != "" {
		return ""
	}
	return p.measure(&post.Content).Warning()
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
