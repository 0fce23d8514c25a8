package sanitize

// Ordinary markup is elements that stand where they may stand, so that no reader has
// anything to repair. This is the table of what may stand where; it is stricter than
// HTML is.

// content is what is expected at a place, and a set of that.
type content uint8

const (
	flow     content = 1 << iota // blocks and text
	phrasing                     // text and what marks it up
	items                        // of a list: li, white space
	terms                        // dt, dd, white space
	groups                       // of a table: caption, sections, rows, white space
	rows
	cells
	versions // of a picture, sound or video: source, track, and what is shown instead
)

// ordinary is an element of ordinary markup.
type ordinary struct {
	e  *element
	at content // where it may stand
	in content // what may stand in it; 0: what may stand around it
}

// ordinaries are the elements of ordinary markup by name.
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
	// What is in these may be whatever may be around them.
	add(text, 0, "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em",
		"font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike",
		"strong", "sub", "sup", "time", "tt", "u", "var", "br", "img", "wbr")
	add(text, versions, "picture", "video", "audio")
	add(versions, 0, "source", "track")
	return t
}
