package river

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// group is one feed of a page in the formats that the page names.
type group struct {
	best    Choice
	key     string
	formats map[string]bool
	bases   map[string]bool // addresses without the ending that says the format
}

// oneEach takes the formats of one feed together: of several choices with one title, each
// in a format of its own or at addresses that differ in the ending only, the first one in
// RSS or Atom stays, else the first.
//
// spec:cloudburst#page-formats
func mergeFormats(list []Choice) []Choice {
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

// formatWords are words in a title that name a format and not a feed.
var formatWords = regexp.MustCompile(`(?i)\b(?:(?:rss|atom|rdf|json|xml)(?:[\s-]*(?:feed|\d+(?:\.\d+)*))?|feed|cdf|scriptingnews|as saved)\b`)

// feedKey is what all formats of a feed have in common: what it is for, its host and its
// title without the name of the format.
func feedKey(c Choice) string {
	title := formatWords.ReplaceAllString(strings.ToLower(c.Title), " ")
	words := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return c.Kind + "\n" + originOf(c.URL) + "\n" + strings.Join(words, " ")
}

// feedBase is an address without query and without the ending of its last part.
func feedBase(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.TrimSuffix(u.Path, path.Ext(u.Path))
}
