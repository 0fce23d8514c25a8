// Package advice lists the problems of a feed for its publisher. Each finding states the effect in
// readers and how to fix the problem. Start with [On].
package advice

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/text"
)

// Level is the severity of a finding.
type Level string

// Levels, most severe first.
const (
	LevelError   Level = "error"   // some readers refuse the feed, or lose items
	LevelWarning Level = "warning" // readers work around the problem in different ways
	LevelAdvice  Level = "advice"  // valid, but could be improved
)

// Finding is one problem or possible improvement of a feed, with all its places in the document.
type Finding struct {
	Level   Level   `json:"level"`
	Rule    string  `json:"rule"`             // stable identifier for programs: "guid-missing"
	Problem string  `json:"problem"`          // what is wrong
	Effect  string  `json:"effect"`           // what readers do because of the problem
	Fix     string  `json:"mend"`             // how to fix the problem
	Count   int     `json:"count"`            // number of places
	Places  []Place `json:"places,omitempty"` // at most maxPlaces places
}

// Place is a position in a document.
type Place struct {
	Line int    `json:"line,omitempty"` // line number from 1; 0: unknown
	Path string `json:"path,omitempty"` // element path, such as rss/channel/item[3]/guid
	Text string `json:"text,omitempty"` // the content at this place, or the value that the parser read
}

// maxPlaces is the maximum number of places of a finding.
const maxPlaces = 5

// Delivery contains optional input of [On]. Zero fields are unknown and cause no findings.
type Delivery struct {
	Document   []byte      // original bytes, for line numbers and content that the parser drops
	URL        string      // URL of the document
	Header     http.Header // response headers
	Compressed bool        // the response had a Content-Encoding
	// Revalidated is the HTTP status of a second request that sent the validators of the first
	// response. 304 is the correct status.
	Revalidated int
	Now         time.Time // dates after Now count as future dates
}

// On returns the findings about a feed, most severe first. They include the parser's repairs
// (Problems) and the requirements of its format, of readers and of the web.
// Parse f with KeepRelative and without Sanitize, because both options hide problems.
// d may be nil.
func On(f *feed.Feed, d *Delivery) []Finding {
	a := adviser{f: f, rules: map[string]int{}}
	if d != nil {
		a.d = *d
	}
	a.index = indexOf(f, a.d)
	a.problems()
	if f.Format == feed.Redirect {
		return a.list
	}
	a.feedLevel()
	a.hints()
	for i := range f.Items {
		a.itemLevel(i, &f.Items[i])
	}
	a.podcast()
	a.limits()
	if a.d.Header != nil {
		a.http()
	}
	a.size()
	slices.SortStableFunc(a.list, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(weight(x.Level), weight(y.Level)), cmp.Compare(firstLine(x), firstLine(y)))
	})
	return a.list
}

func weight(l Level) int {
	switch l {
	case LevelError:
		return 0
	case LevelWarning:
		return 1
	}
	return 2
}

func firstLine(a Finding) int {
	if len(a.Places) == 0 {
		return 0
	}
	return a.Places[0].Line
}

// adviser collects the findings about one feed.
type adviser struct {
	f     *feed.Feed
	d     Delivery
	list  []Finding
	rules map[string]int // key: rule; value: index in list
	index docIndex
}

// add adds one place to the finding of a rule, and creates the finding if necessary.
func (a *adviser) add(level Level, rule string, at Place, problem, effect, fix string) {
	i, ok := a.rules[rule]
	if !ok {
		i = len(a.list)
		a.rules[rule] = i
		a.list = append(a.list, Finding{Level: level, Rule: rule, Problem: problem, Effect: effect, Fix: fix})
	}
	adv := &a.list[i]
	adv.Count++
	if len(adv.Places) < maxPlaces && at != (Place{}) {
		at.Text = sample(at.Text)
		adv.Places = append(adv.Places, at)
	}
}

// sample returns the beginning of a text on one line.
func sample(s string) string {
	const maxLen = 160
	if len(s) > 4*maxLen {
		s = strings.ToValidUTF8(s[:4*maxLen], "")
	}
	return text.ClipRunes(strings.Join(strings.Fields(s), " "), maxLen)
}

// isRSS reports whether the format is RSS 0.91 to 0.94 or 2.0.
func (a *adviser) isRSS() bool { return a.f.Format == feed.RSS && !a.isRDF() }

// isRDF reports whether the format is RSS 0.90 or 1.0.
func (a *adviser) isRDF() bool {
	return a.f.Format == feed.RSS && (a.f.Version == "0.90" || a.f.Version == "1.0")
}

// old reports whether the feed's format has no item ids and mostly no dates.
func (a *adviser) old() bool {
	switch a.f.Format {
	case feed.RSS:
		return strings.HasPrefix(a.f.Version, "0.9")
	case feed.CDF, feed.ScriptingNews, feed.MCF:
		return true
	}
	return false
}

// called returns the name of an element in this feed's format.
func (a *adviser) called(rss, atom, json string) string {
	switch a.f.Format {
	case feed.Atom:
		return atom
	case feed.JSONFeed:
		return json
	}
	return rss
}

// item returns the place of an element in item i. If the element is missing, item returns the place
// of the item itself.
func (a *adviser) item(i int, element, text string) Place {
	for _, k := range []docKey{{i + 1, element}, {i + 1, ""}} {
		if p, ok := a.index.places[k]; ok {
			p.Text = text
			return p
		}
	}
	if a.f.Format == feed.JSONFeed {
		return Place{Path: "items[" + strconv.Itoa(i) + "]", Text: text} // zero-based
	}
	return Place{Path: "item[" + strconv.Itoa(i+1) + "]", Text: text}
}

// top returns the place of an element of the feed. If the element is missing, top returns the place
// of the feed itself.
func (a *adviser) top(element, text string) Place {
	for _, k := range []docKey{{0, element}, {0, ""}} {
		if p, ok := a.index.places[k]; ok {
			p.Text = text
			return p
		}
	}
	return Place{Text: text}
}

// problems converts the parser's repairs into findings.
func (a *adviser) problems() {
	for _, p := range a.f.Problems {
		if p.Kind == feed.ProblemType {
			continue // the method http reports this problem with the correct media type
		}
		level, problem, effect, fix := problemAdvice(p.Kind)
		at := Place{p.Line, p.Path, p.Message}
		if n, ok := strings.CutPrefix(p.Path, "item["); ok && p.Line == 0 {
			if i, err := strconv.Atoi(strings.TrimSuffix(n, "]")); err == nil {
				at = a.item(i-1, "", p.Message)
			}
		}
		a.add(level, p.Kind, at, problem, effect, fix)
	}
}

// problemAdvice returns the finding for a kind of problem.
func problemAdvice(kind string) (level Level, problem, effect, fix string) {
	const broken = "Strict XML readers stop at this point and show nothing, or no new items."
	switch kind {
	case feed.ProblemTruncated:
		return LevelError, "The document is truncated.", broken + " All readers lose the remaining items.", "Check the time and size limits of the program that writes or serves the feed."
	case feed.ProblemUnclosed, feed.ProblemStrayEnd:
		return LevelError, "Start and end tags do not match.", broken, "Close each element in the right place. An XML library does this automatically."
	case feed.ProblemMarkup:
		return LevelError, "The document contains invalid XML markup.", broken, "Write < in text as &lt;, or use a CDATA section."
	case feed.ProblemAttribute:
		return LevelError, "The document contains invalid XML attributes.", broken, "Write each attribute once, with its value in quotes."
	case feed.ProblemEntity:
		return LevelError, "The document contains unescaped ampersands or entities that XML does not define.", broken, "Write & as &amp;, and write characters directly: &nbsp; and similar entities belong to HTML."
	case feed.ProblemCharacter:
		return LevelError, "The document contains invalid bytes or characters.", broken + " Other readers show replacement characters.", "Remove control characters, and save the document in the declared encoding, preferably UTF-8."
	case feed.ProblemEncoding:
		return LevelError, "The declared encodings contradict each other or are unknown.", "Some readers show wrong characters outside ASCII.", "Use UTF-8, and declare it in both the XML declaration and Content-Type, or in neither."
	case feed.ProblemJunk:
		return LevelError, "The document has extra content before its beginning or after its end.", broken, "Write nothing before <?xml, not even an empty line, and nothing after the last end tag."
	case feed.ProblemSyntax:
		return LevelError, "The JSON is invalid.", "Most readers refuse the whole feed.", "Write the document with a JSON library."
	case feed.ProblemDuplicate:
		return LevelError, "Several items have the same id.", "Readers show one of these items and treat the others as duplicates.", "Give each item a unique id that never changes."
	case feed.ProblemNamespace:
		return LevelWarning, "Namespaces are missing or unusual.", "Namespace-aware readers ignore these elements.", "Declare each prefix with the URI in its specification."
	case feed.ProblemVersion:
		return LevelWarning, "The version is missing or does not exist.", "Readers guess the meaning of the elements.", "Declare the version: <rss version=\"2.0\">, the Atom namespace, or the version of JSON Feed."
	case feed.ProblemDate:
		return LevelWarning, "Dates are invalid.", "Readers use the time of the download, or sort the items last.", "Use the date format of the specification: \"Mon, 04 May 2026 10:00:00 GMT\" in RSS, \"2026-05-04T10:00:00Z\" elsewhere."
	case feed.ProblemURL:
		return LevelWarning, "URLs are invalid.", "Links are broken.", "Use absolute URLs that begin with https://, with spaces as %20."
	case feed.ProblemMissing:
		return LevelWarning, "An element that the format requires is missing.", "Readers omit information that depends on it.", "Add the element."
	case feed.ProblemLimit:
		return LevelWarning, "The feed exceeds the limits of readers.", "Readers ignore the excess content.", "Limit the feed to the newest items, and move old ones to an archive."
	case feed.ProblemType:
		return LevelWarning, "The Content-Type is not that of a feed.", "Browsers and some readers treat it as a page or a download.", "Serve it as application/rss+xml, application/atom+xml or application/feed+json."
	case feed.ProblemMore:
		return LevelAdvice, "The document has more problems than are listed.", "See the listed problems.", "Fix the listed problems first."
	}
	return LevelWarning, "Values are invalid.", "Readers ignore them.", "Use the format of the specification."
}
