package item

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/text"
)

const (
	maxPushEndpoints = 10
	maxDescription   = 1000 // maximum number of characters
	maxProblem       = 300
	maxTitle         = 200
)

// AboutOf returns the metadata of a feed that its document declares.
func AboutOf(f *feed.Feed) About {
	return About{
		Title: text.ClipRunes(Words(f.Title), maxTitle), Description: text.ClipRunes(Words(f.Subtitle), maxDescription), Home: WebURL(f.Link),
		Icon: iconOf(f), Language: text.ClipRunes(text.PlainLine(f.Language), maxLanguage), Format: formatOf(f), Problem: cmp.Or(problemOf(f), cloudProblem(f)),
	}
}

func iconOf(f *feed.Feed) string {
	for _, u := range []string{f.Icon, ImageURL(f.Image)} {
		if u = WebURL(u); u != "" {
			return u
		}
	}
	if f.ITunes != nil {
		return WebURL(f.ITunes.Image)
	}
	return ""
}

// formatOf returns the name of the feed's format for display, such as "RSS 2.0".
func formatOf(f *feed.Feed) string {
	name := string(f.Format)
	switch f.Format {
	case feed.RSS:
		name = "RSS"
	case feed.Atom:
		name = "Atom"
	case feed.JSONFeed:
		name = "JSON Feed"
	case feed.CDF:
		name = "CDF"
	case feed.ScriptingNews:
		name = "scriptingNews"
	case feed.MCF:
		name = "MCF"
	}
	return strings.TrimSpace(text.ClipRunes(text.PlainLine(name+" "+f.Version), 40))
}

// problemOf describes a problem that the parser repaired or a part that the parser skipped.
// Exceeded limits and truncation take precedence, because items are missing then.
//
// spec:cloudburst#river-limits-reported
func problemOf(f *feed.Feed) string {
	if len(f.Problems) == 0 {
		return ""
	}
	i := max(slices.IndexFunc(f.Problems, func(p feed.Problem) bool {
		return p.Kind == feed.ProblemLimit || p.Kind == feed.ProblemTruncated
	}), 0)
	s := text.PlainLine(f.Problems[i].Message)
	if n := len(f.Problems) - 1; n > 0 {
		s += " (and " + strconv.Itoa(n) + " more)"
	}
	return text.ClipRunes(s, maxProblem)
}

// About is the metadata of a feed. All texts are plain and limited in length.
type About struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Home        string `json:"home,omitempty"` // URL of the home page
	Icon        string `json:"icon,omitempty"` // URL of an image
	Language    string `json:"language,omitempty"`
	Format      string `json:"format,omitempty"`  // name of the format for display, such as "RSS 2.0"
	Problem     string `json:"problem,omitempty"` // sentence about what the parser repaired in the last document; "": nothing
}
