package location

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Choice is one of several feeds that a page links to.
type Choice struct {
	URL    string
	Title  string
	Format string
	Kind   string // what the feed contains: "feed" (posts), "comments", …
}

// group collects the links of a page to one feed, which may exist in several formats.
type group struct {
	best    Choice
	key     string
	formats map[string]bool
	bases   map[string]bool // paths of the URLs, without the file extension
}

// MergeFormats keeps one choice per feed. Two choices are the same feed if they have the same
// title, and either differ in format or have URLs that differ only in the extension. MergeFormats
// keeps the first choice of a feed in RSS or Atom, or else the first choice.
//
// spec:cloudburst#page-formats
func MergeFormats(list []Choice) []Choice {
	var groups []*group
	for _, c := range list {
		key, base := feedKey(c), feedBase(c.URL)
		i := 0
		for i < len(groups) && !groups[i].has(c, key, base) {
			i++
		}
		if i == len(groups) {
			groups = append(groups, &group{best: c, key: key, formats: map[string]bool{}, bases: map[string]bool{}})
		}
		g := groups[i]
		if preferred(c.Format) && !preferred(g.best.Format) {
			g.best = c
		}
		g.formats[c.Format], g.bases[base] = true, true
	}
	out := make([]Choice, len(groups))
	for i, g := range groups {
		out[i] = g.best
	}
	return out
}

func (g *group) has(c Choice, key, base string) bool {
	return g.key == key && (g.bases[base] || c.Format != "" && !g.formats[c.Format] && !g.formats[""])
}

func preferred(format string) bool { return format == "RSS" || format == "Atom" }

// formatWords matches the words in a title that name a format instead of describing the feed.
var formatWords = regexp.MustCompile(`(?i)\b(?:(?:rss|atom|rdf|json|xml)(?:[\s-]*(?:feed|\d+(?:\.\d+)*))?|feed|cdf|scriptingnews|as saved)\b`)

// feedKey returns the properties that all formats of a feed share: the kind, the origin, and the
// title without the names of formats.
func feedKey(c Choice) string {
	title := formatWords.ReplaceAllString(strings.ToLower(c.Title), " ")
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return c.Kind + "\n" + Origin(c.URL) + "\n" + strings.Join(words, " ")
}

// feedBase returns the path of a URL without the file extension.
func feedBase(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.TrimSuffix(u.Path, path.Ext(u.Path))
}
