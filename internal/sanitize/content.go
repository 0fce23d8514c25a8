package sanitize

// Ordinary markup has every element in an allowed place, so parsers have nothing to repair. This
// table defines these places; it is stricter than HTML.

// content is a set of kinds of content that a place may contain.
type content uint8

const (
	flow     content = 1 << iota // the place may contain blocks and text
	phrasing                     // the place may contain text and inline elements
	items                        // content of a list: li and white space
	terms                        // content of dl: dt, dd and white space
	groups                       // content of a table: caption, sections, rows and white space
	rows
	cells
	versions // content of picture, video and audio: source, track and fallback content
)

// ordinary is an element of ordinary markup.
type ordinary struct {
	e  *element
	at content // kinds of content that the element belongs to
	in content // kinds of content that the element may contain; 0: the same as its parent
}

// ordinaries maps names to elements of ordinary markup.
var ordinaries = makeOrdinaries()

func makeOrdinaries() *nameTable[ordinary] {
	t := new(nameTable[ordinary])
	add := func(at, in content, names ...string) {
		for _, name := range names {
			t.add(name, ordinary{elements[name], at, in})
		}
	}
	text := flow | phrasing | versions
	add(flow, flow, "div", "blockquote", "section", "article", "aside", "header", "footer", "main",
		"nav", "figure", "figcaption", "center", "details", "address")
	add(flow, phrasing, "p", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "summary")
	add(flow, 0, "hr")
	add(flow, items, "ul", "ol")
	add(items, flow, "li")
	add(flow, terms, "dl")
	add(terms, flow, "dt", "dd")
	add(flow, groups, "table")
	add(groups, phrasing, "caption")
	add(groups, rows, "thead", "tbody", "tfoot")
	add(groups|rows, cells, "tr")
	add(cells, flow, "td", "th")
	// These elements may contain the same content as their parents.
	add(text, 0, "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em",
		"font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike",
		"strong", "sub", "sup", "time", "tt", "u", "var", "br", "img", "wbr")
	add(text, versions, "picture", "video", "audio")
	add(versions, 0, "source", "track")
	return t
}
