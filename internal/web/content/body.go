package content

import (
	"html"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// Limits for an item on a river page. The river cuts a longer item; the page of the item shows all of it.
const (
	maxWholeItem = 1200     // maximum length in characters of a text that is shown whole
	minExcerpt   = 600      // a longer text is cut at the first end of a paragraph after this number of characters
	maxExcerpt   = 1400     // number of characters after which a longer text is cut within a paragraph
	imageWeight  = 150      // an image counts as this number of characters
	maxPageHTML  = 32 << 10 // maximum size in bytes of an item's markup that a river page processes
	maxItemHTML  = 1 << 20  // maximum size in bytes of the markup on the item's own page; a longer text is shown without markup
)

// Body is the text of an item as HTML for a river page.
type Body struct {
	HTML template.HTML
	Cut  bool // the text was shortened
}

// BodyRenderer converts the text of an item to HTML for a page.
type BodyRenderer struct {
	clean  *sanitize.Sanitizer
	images string                  // ImagesProxy, ImagesDirect or ImagesOff
	proxy  func(url string) string // returns the URL of an image on this server
	own    bool                    // the text was written on this server, so paths refer to this server

	// Heading is the level of the first heading of a text, 1 to 6. 0 means 2 for a whole text, else 3.
	// Later headings have this level or a lower one, and skip no level.
	Heading int

	size    func(url string) (width, height string) // returns the dimensions of an image that this server has read; "": unknown
	Unsized []string                                // proxied images without known dimensions
}

// Render sanitizes the text again, replaces images as configured and media by links that play on
// request, and lowers headings below those of the page. It shortens a long text unless whole is
// set.
func (d *BodyRenderer) Render(text string, whole bool) Body {
	if whole && len(text) > maxItemHTML {
		return Body{HTML: template.HTML("<p>" + html.EscapeString(sanitize.Text(text)) + "</p>")}
	}
	w := bodyWriter{BodyRenderer: d, whole: whole}
	long := !whole && len(text) > maxPageHTML
	if long { // the sanitizer closes the elements that the cut leaves open
		text = strings.ToValidUTF8(text[:maxPageHTML], "")
	}
	w.q.in = d.clean.HTML(text)
	w.cuts = long || !whole && weight(w.q.in) > maxWholeItem
	w.q.out.Grow(min(len(w.q.in), 4*maxExcerpt) + 200)
	for w.next() {
	}
	// Safe: the sanitizer wrote this markup, and bodyWriter adds only images of this server and
	// links.
	return Body{template.HTML(w.q.out.String()), w.done || long}
}

// weight returns the approximate length of a text in characters; an image counts as imageWeight.
func weight(safe string) (n int) {
	for len(safe) > 0 {
		text, rest, found := strings.Cut(safe, "<")
		n += utf8.RuneCountInString(text)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "img") {
			n += imageWeight
		}
		if _, rest, found = strings.Cut(rest, ">"); !found {
			break
		}
		safe = rest
	}
	return n
}

// bodyWriter rewrites markup tag by tag.
type bodyWriter struct {
	*BodyRenderer
	q            tagRewriter // input and output
	whole        bool
	media        string // the open audio or video element; "": none
	shown        bool   // the open audio or video element already has a link
	cuts         bool
	seen         int      // characters written so far
	first, level int      // level of the first heading in the text, and of the last written heading
	open         []string // written elements without an end tag yet, if the text may be cut
	done         bool     // the text was cut

	named  bool   // the open link has a text
	target string // URL of the open link
}

// next processes the text up to the next tag, and then the tag. It returns false at the end of the input.
func (w *bodyWriter) next() bool {
	text, rest, found := strings.Cut(w.q.in, "<")
	if w.media == "" { // inside a media element, the text is a fallback that is not shown
		w.named = w.named || strings.TrimSpace(text) != ""
		w.text(text)
	}
	if !found || w.done {
		return false
	}
	t, after, ok := readTag(rest)
	if !ok { // cannot happen: the sanitizer writes only valid tags
		w.text("&lt;")
		w.q.in = rest
		return !w.done
	}
	w.q.in = after
	w.tag(t)
	return !w.done
}

// text writes s, or its first words if the limit is reached.
func (w *bodyWriter) text(s string) {
	n := utf8.RuneCountInString(s)
	if w.cuts && w.q.openForeign == 0 && w.seen+n > maxExcerpt {
		w.q.out.WriteString(firstWords(s, maxExcerpt-w.seen) + "…")
		w.end()
		return
	}
	w.seen += n
	w.q.out.WriteString(s)
}

// firstWords returns the beginning of an escaped text, cut at a space.
func firstWords(s string, limit int) string {
	for i := range s {
		if limit--; limit < 0 {
			s = s[:i]
			break
		}
	}
	if i := strings.LastIndexAny(s, " \t\n"); i > len(s)/2 {
		return s[:i]
	}
	if i := strings.LastIndexByte(s, '&'); i >= 0 && !strings.Contains(s[i:], ";") {
		return s[:i]
	}
	return s
}

// end cuts the text here: it writes only the end tags of open elements.
func (w *bodyWriter) end() {
	for _, name := range slices.Backward(w.open) {
		w.q.out.WriteString("</" + name + ">")
	}
	w.done = true
}

// tag rewrites and writes one tag.
func (w *bodyWriter) tag(t markupTag) {
	switch t.name {
	case "svg", "math":
		w.q.openForeign += step(t)
	case "audio", "video":
		w.player(t)
		return
	case "source", "img":
		if w.q.openForeign == 0 {
			w.file(t)
			return
		}
	case "picture", "track", "area", "map":
		return
	case "a":
		w.q.openLinks += step(t)
		if !t.end {
			w.named, w.target = false, t.attr("href")
		} else if !w.named && w.media == "" && w.q.openForeign == 0 && w.target != "" { // the link has neither text nor an image with a description: show its URL
			w.q.out.WriteString(`<span class="sr">` + html.EscapeString(shell.ShortURL(html.UnescapeString(w.target))) + `</span>`)
		}
	}
	if w.media != "" {
		return
	}
	switch {
	case w.q.openForeign > 0:
	case len(t.name) == 2 && t.name[0] == 'h' && t.name != "hr":
		t.name = w.heading(t)
	default:
		t.name = replacementElement(t.name)
	}
	w.q.write(t)
	w.opened(t)
}

// heading returns the element name for a heading, at a level below the headings of the page.
func (w *bodyWriter) heading(t markupTag) string {
	if !t.end {
		top, level := w.Heading, int(t.name[1]-'0')
		if top == 0 {
			if top = 3; w.whole {
				top = 2
			}
		}
		if w.first == 0 {
			w.first, w.level = level, top-1
		}
		w.level = min(max(top+level-w.first, top), w.level+1, 6)
	}
	return "h" + strconv.Itoa(max(w.level, 1))
}

func step(t markupTag) int {
	switch {
	case t.end:
		return -1
	case t.void:
		return 0
	}
	return 1
}

// opened tracks the open elements. It cuts the text after the block that reaches minExcerpt.
func (w *bodyWriter) opened(t markupTag) {
	switch {
	case !w.cuts || t.void || voidElement(t.name):
		return
	case !t.end:
		w.open = append(w.open, t.name)
		return
	}
	if n := len(w.open); n > 0 && w.open[n-1] == t.name {
		w.open = w.open[:n-1]
	}
	if w.seen > minExcerpt && w.q.openForeign == 0 && w.q.in != "" && block(t.name) {
		w.end()
	}
}

func voidElement(name string) bool {
	switch name {
	case "br", "hr", "img", "wbr", "col", "source", "track", "area", "input":
		return true
	}
	return false
}

func block(name string) bool {
	switch name {
	case "p", "div", "li", "ul", "ol", "dl", "dd", "blockquote", "pre", "table", "tr", "figure", "section", "article", "h3", "h4", "h5", "h6":
		return true
	}
	return false
}

// player replaces an audio or video element by a link. Nothing is loaded before the user plays it.
func (w *bodyWriter) player(t markupTag) {
	if t.end {
		w.media = ""
		return
	}
	if !t.void {
		w.media, w.shown = t.name, false
	}
	w.link(t.name, t.attr("src"))
	w.shown = w.shown || t.attr("src") != ""
}

// file writes an image, or a link for a source element of the open player.
func (w *bodyWriter) file(t markupTag) {
	switch {
	case t.end:
	case t.name == "source" && w.media != "" && !w.shown:
		w.link(w.media, t.attr("src"))
		w.shown = t.attr("src") != ""
	case t.name == "img" && w.media == "":
		w.seen += imageWeight
		image := w.Image(html.UnescapeString(t.attr("src")), html.UnescapeString(t.attr("alt")), t.attr("width"), t.attr("height"), w.q.openLinks > 0)
		w.named = w.named || !strings.Contains(image, `alt=""`)
		w.q.out.WriteString(image)
	}
}

func (w *bodyWriter) link(kind, src string) {
	src = html.UnescapeString(src)
	if !shell.IsSafeURL(src) || w.q.openLinks > 0 {
		return
	}
	words := map[string]string{"audio": "Sound", "video": "Film"}[kind]
	if name := LastPathPart(src); name != "" {
		words += ": " + name
	}
	w.q.out.WriteString(`<a class="play" data-kind="` + kind + `" href="` + html.EscapeString(src) + `" rel="` + sanitize.PageRel + `">` + html.EscapeString(words) + "</a> ") // several players can follow each other
}
