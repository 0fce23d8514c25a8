package location

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Choice is one feed of a page that has several.
type Choice struct {
	URL    string
	Title  string
	Format string
	Kind   string // "feed", "comments", …
}

// group is one feed of a page in all formats that the page links to.
type group struct {
	best    Choice
	key     string
	formats map[string]bool
	bases   map[string]bool // URL paths without the file extension
}

// MergeFormats keeps one choice per feed. Choices are one feed when they have the same title, and
// either differ in format or have URLs that differ only in the extension. The first choice in RSS
// or Atom stays, else the first.
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

// formatWords matches words in a title that name a format and not a feed.
var formatWords = regexp.MustCompile(`(?i)\b(?:(?:rss|atom|rdf|json|xml)(?:[\s-]*(?:feed|\d+(?:\.\d+)*))?|feed|cdf|scriptingnews|as saved)\b`)

// feedKey returns what all formats of a feed have in common: the kind, the origin, and the title
// without format names.
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
