// Package advice says what the publisher of a feed should know: what is wrong with
// it, what readers will do about that, and what to mend. Start with [On].
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

// Level says how much a piece of advice matters.
type Level string

// The levels, the worst first.
const (
	LevelError   Level = "error"   // some readers refuse the feed, or lose items
	LevelWarning Level = "warning" // readers cope, each in its own way
	LevelAdvice  Level = "advice"  // nothing is wrong; it could be better
)

// Finding is something that the publisher of a feed can mend or improve, with all the
// places where it is so.
type Finding struct {
	Level   Level   `json:"level"`
	Rule    string  `json:"rule"`             // stable, for programs: "guid-missing"
	Problem string  `json:"problem"`          // what is wrong
	Effect  string  `json:"effect"`           // what readers do with it
	Fix     string  `json:"mend"`             // what to do
	Count   int     `json:"count"`            // how often
	Places  []Place `json:"places,omitempty"` // the first of them
}

// Place is where in a document something is.
type Place struct {
	Line int    `json:"line,omitempty"` // from 1; 0: not known
	Path string `json:"path,omitempty"` // element path: rss/channel/item[3]/guid
	Text string `json:"text,omitempty"` // what stands there, or what was made of it
}

// maxPlaces is how many places one piece of advice tells.
const maxPlaces = 5

// Delivery is what else [On] may look at. Zero fields are not looked at.
type Delivery struct {
	Document   []byte      // as it came: for lines, and for what is lost in reading
	URL        string      // where it came from
	Header     http.Header // of the answer
	Compressed bool        // it came with a Content-Encoding
	// Revalidated is the status of a second request with the validators of the
	// first; 304 is right.
	Revalidated int
	Now         time.Time // dates later than it are in the future
}

// On says what the publisher of the feed should know: what was repaired in
// reading (Problems) and what its format, its readers and the web want besides. The
// worst comes first. Parse with KeepRelative and without Sanitize, else what those
// mend is not seen; d may be nil.
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

// adviser gathers advice about one feed.
type adviser struct {
	f     *feed.Feed
	d     Delivery
	list  []Finding
	rules map[string]int // rule to its place in list
	index docIndex
}

// add tells of one place.
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

// sample is the beginning of a text, on one line.
func sample(s string) string {
	const most = 160
	if len(s) > 4*most {
		s = strings.ToValidUTF8(s[:4*most], "")
	}
	return text.ClipRunes(strings.Join(strings.Fields(s), " "), most)
}

// isRSS reports RSS with a version number below 1.0, or 2.0.
func (a *adviser) isRSS() bool { return a.f.Format == feed.RSS && !a.isRDF() }

// isRDF reports RSS 0.90 and 1.0.
func (a *adviser) isRDF() bool {
	return a.f.Format == feed.RSS && (a.f.Version == "0.90" || a.f.Version == "1.0")
}

// old reports formats in which items have no ids, and mostly no dates.
func (a *adviser) old() bool {
	switch a.f.Format {
	case feed.RSS:
		return strings.HasPrefix(a.f.Version, "0.9")
	case feed.CDF, feed.ScriptingNews, feed.MCF:
		return true
	}
	return false
}

// called is the name of an element in this feed's format.
func (a *adviser) called(rss, atom, json string) string {
	switch a.f.Format {
	case feed.Atom:
		return atom
	case feed.JSONFeed:
		return json
	}
	return rss
}

// item is the place of an element of an item, or of the item when it has none.
func (a *adviser) item(i int, element, text string) Place {
	for _, k := range []docKey{{i + 1, element}, {i + 1, ""}} {
		if p, ok := a.index.places[k]; ok {
			p.Text = text
			return p
		}
	}
	if a.f.Format == feed.JSONFeed {
		return Place{Path: "items[" + strconv.Itoa(i) + "]", Text: text} // as programs count
	}
	return Place{Path: "item[" + strconv.Itoa(i+1) + "]", Text: text}
}

// top is the place of an element of the feed, or of the feed when it has none.
func (a *adviser) top(element, text string) Place {
	for _, k := range []docKey{{0, element}, {0, ""}} {
		if p, ok := a.index.places[k]; ok {
			p.Text = text
			return p
		}
	}
	return Place{Text: text}
}

// problems turns what reading had to repair into advice.
func (a *adviser) problems() {
	for _, p := range a.f.Problems {
		if p.Kind == feed.ProblemType {
			continue // http says what it should be
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

// problemAdvice is what a kind of problem means to publishers.
func problemAdvice(kind string) (level Level, problem, effect, fix string) {
	const broken = "Readers that go by the rules of XML stop here and show nothing, or nothing new."
	switch kind {
	case feed.ProblemTruncated:
		return LevelError, "The document ends in the middle.", broken + " The rest of the items is lost to all.", "Look for a limit of time or size in what writes or serves the feed."
	case feed.ProblemUnclosed, feed.ProblemStrayEnd:
		return LevelError, "Start and end tags do not match.", broken, "Close each element where it should end. A program that writes XML does it by itself."
	case feed.ProblemMarkup:
		return LevelError, "There is markup that is not XML.", broken, "Write < in texts as &lt;, or put the text into a CDATA section."
	case feed.ProblemAttribute:
		return LevelError, "There are attributes that are not XML.", broken, "Give each attribute once, with its value in quotes."
	case feed.ProblemEntity:
		return LevelError, "There are ampersands or entities that XML does not have.", broken, "Write & as &amp; and letters as themselves; &nbsp; and its like belong to HTML."
	case feed.ProblemCharacter:
		return LevelError, "There are bytes or characters that may not be in the document.", broken + " Others show replacement signs.", "Take control characters out, and save everything in the encoding that is declared, best UTF-8."
	case feed.ProblemEncoding:
		return LevelError, "What is said about the encoding contradicts itself or is not known.", "Letters beyond English come out wrong in some readers.", "Use UTF-8, and say so in the XML declaration and in Content-Type, or nowhere."
	case feed.ProblemJunk:
		return LevelError, "There is something before or behind the document.", broken, "Let nothing be written in front of <?xml, not even an empty line, and nothing behind the last end tag."
	case feed.ProblemSyntax:
		return LevelError, "The JSON is not quite JSON.", "Most readers refuse the whole feed.", "Let a program write the JSON."
	case feed.ProblemDuplicate:
		return LevelError, "Several items have one id.", "Readers show one of them and take the others for its repetition.", "Give each item an id of its own that never changes."
	case feed.ProblemNamespace:
		return LevelWarning, "Namespaces are missing or unusual.", "Readers that go by namespaces pass over these elements.", "Declare each prefix with the URI that its specification gives."
	case feed.ProblemVersion:
		return LevelWarning, "The version is missing or does not exist.", "Readers guess what the elements mean.", "Say which version it is: <rss version=\"2.0\">, the namespace of Atom, the version of JSON Feed."
	case feed.ProblemDate:
		return LevelWarning, "Dates cannot be read.", "Items get the time at which they were fetched, or sink to the end.", "Write dates as the format wants them: \"Mon, 04 May 2026 10:00:00 GMT\" in RSS, \"2026-05-04T10:00:00Z\" elsewhere."
	case feed.ProblemURL:
		return LevelWarning, "Addresses cannot be read.", "Links lead nowhere.", "Give whole addresses, from https:// on, with spaces as %20."
	case feed.ProblemMissing:
		return LevelWarning, "Something that the format requires is missing.", "Readers leave out what depends on it.", "Add it."
	case feed.ProblemLimit:
		return LevelWarning, "The feed is beyond the limits of readers.", "What is beyond them is not read.", "Keep the feed to the newest items, and the old ones in an archive."
	case feed.ProblemType:
		return LevelWarning, "The Content-Type says that this is no feed.", "Browsers and some readers offer it as a page or a download.", "Serve it as application/rss+xml, application/atom+xml or application/feed+json."
	case feed.ProblemMore:
		return LevelAdvice, "There are more problems than are told.", "See above.", "Mend those that are told first."
	}
	return LevelWarning, "Values cannot be read.", "Readers pass over them.", "Write them as the format wants them."
}
