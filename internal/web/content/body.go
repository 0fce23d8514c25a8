package content

import (
	"html"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/sanitize"
	"cloudburst/internal/web/shell"
)

// Bounds of an item in the river; what is longer has a page of its own.
const (
	maxWholeItem = 1200     // characters that are still shown whole
	minExcerpt   = 600      // of a longer one, the paragraph that ends after so many is the last
	maxExcerpt   = 1400     // and if none does, it is cut here
	imageWeight  = 150      // characters that a picture counts for
	maxPageHTML  = 32 << 10 // bytes of markup that are looked at for a page of fifty
	maxItemHTML  = 1 << 20  // and for the item's own page; of a longer one, the words are shown
)

// Body is an item's text, fit for a page of the river.
type Body struct {
	HTML template.HTML
	Cut  bool // there is more
}

// BodyRenderer says how texts are made fit for the river.
type BodyRenderer struct {
	clean  *sanitize.Sanitizer
	images string                  // ImagesProxy, ImagesDirect or ImagesOff
	proxy  func(url string) string // where this server has a picture
	own    bool                    // the text was written here: paths in it are of this server

	size    func(url string) (width, height string) // of an image that this server has read; "": not known
	Unsized []string                                // images through the proxy of which no size is known yet
}

// Render makes a text fit to be shown: clean once more, whoever has cleaned it before;
// with pictures as this server has them, media as links that are played when somebody
// wants it, and headings below those of the page. Unless whole, a long one is cut.
func (d *BodyRenderer) Render(text string, whole bool) Body {
	if whole && len(text) > maxItemHTML {
		return Body{HTML: template.HTML("<p>" + html.EscapeString(sanitize.Text(text)) + "</p>")}
	}
	w := bodyWriter{BodyRenderer: d, whole: whole}
	long := !whole && len(text) > maxPageHTML
	if long { // what a cut in the middle leaves open is mended like everything else
		text = strings.ToValidUTF8(text[:maxPageHTML], "")
	}
	w.q.in = d.clean.HTML(text)
	w.cuts = long || !whole && weight(w.q.in) > maxWholeItem
	w.q.out.Grow(min(len(w.q.in), 4*maxExcerpt) + 200)
	for w.next() {
	}
	// Safe, because it went through the sanitizer; what dresser does to it adds nothing
	// but pictures of this server and links to what stood there.
	return Body{template.HTML(w.q.out.String()), w.done || long}
}

// weight is how long a text is to a reader, roughly.
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

// dresser goes through markup from tag to tag.
type bodyWriter struct {
	*BodyRenderer
	q     tagRewriter // what it reads and writes
	whole bool
	media string // open audio or video; "": none
	shown bool   // the open one has its link
	cuts  bool
	seen  int      // characters so far
	open  []string // elements that were written and are open, when it may be cut
	done  bool     // it was cut
}

// next takes the text up to a tag, and the tag.
func (w *bodyWriter) next() bool {
	text, rest, found := strings.Cut(w.q.in, "<")
	if w.media == "" { // else it is for those whose browser plays nothing
		w.text(text)
	}
	if !found || w.done {
		return false
	}
	t, after, ok := readTag(rest)
	if !ok { // this is not as the sanitizer writes
		w.text("&lt;")
		w.q.in = rest
		return !w.done
	}
	w.q.in = after
	w.tag(t)
	return !w.done
}

// text writes words, or the first of them.
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

// firstWords is the beginning of a text that has its references written, up to a space.
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

// end cuts here: nothing but ends of what is open follows.
func (w *bodyWriter) end() {
	for _, name := range slices.Backward(w.open) {
		w.q.out.WriteString("</" + name + ">")
	}
	w.done = true
}

// tag writes what becomes of a tag.
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
	}
	if w.media != "" {
		return
	}
	switch {
	case w.q.openForeign > 0:
	case w.whole && t.name == "h1": // the page's own heading is right above
		t.name = "h2"
	case !w.whole || t.name[0] != 'h' || len(t.name) != 2 || t.name == "hr":
		t.name = replacementElement(t.name)
	}
	w.q.write(t)
	w.opened(t)
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

// opened keeps in mind what is open, and cuts after a block that fills the room.
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

// player makes a link of sound or film. It is loaded when somebody plays it.
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

// file is a picture, or a file of a player that is open.
func (w *bodyWriter) file(t markupTag) {
	switch {
	case t.end:
	case t.name == "source" && w.media != "" && !w.shown:
		w.link(w.media, t.attr("src"))
		w.shown = t.attr("src") != ""
	case t.name == "img" && w.media == "":
		w.seen += imageWeight
		w.q.out.WriteString(w.Image(html.UnescapeString(t.attr("src")), html.UnescapeString(t.attr("alt")), t.attr("width"), t.attr("height"), w.q.openLinks > 0))
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
	w.q.out.WriteString(`<a class="play" data-kind="` + kind + `" href="` + html.EscapeString(src) + `" rel="nofollow noopener noreferrer ugc">` + html.EscapeString(words) + "</a>")
}

// Image is an image as the setting wants it. inLink says that it stands in a link.
func (d *BodyRenderer) Image(src, alt, width, height string, inLink bool) string {
	data := isDataImage(src)
	here := d.own && strings.HasPrefix(src, "/") && !strings.HasPrefix(src, "//")
	if !data && !here && !shell.IsSafeURL(src) || isTrackingSize(width) || isTrackingSize(height) {
		return ""
	}
	switch {
	case data || here || d.images == ImagesDirect:
	case d.images == ImagesProxy:
		if !isPixels(width) || !isPixels(height) {
			if width, height = d.size(src); width == "" {
				d.Unsized = append(d.Unsized, src)
			}
		}
		src = d.proxy(src)
	default:
		return imageLink(src, alt, inLink)
	}
	out := `<img src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(shell.CleanText(alt, 500)) + `"`
	if isPixels(width) && isPixels(height) { // the browser keeps room for it
		out += ` width="` + width + `" height="` + height + `"`
	}
	return out + ` loading="lazy" decoding="async" referrerpolicy="no-referrer"/>`
}

// dataPicture reports a picture that is in its address, and made of points.
func isDataImage(src string) bool {
	kind, found := strings.CutPrefix(strings.ToLower(src[:min(len(src), 20)]), "data:image/")
	if !found || !utf8.ValidString(src) {
		return false
	}
	for _, name := range []string{"png;", "jpeg;", "jpg;", "gif;", "webp;", "avif;", "bmp;"} {
		if strings.HasPrefix(kind, name) {
			return true
		}
	}
	return false
}

func imageLink(src, alt string, inLink bool) string {
	words := "Image"
	if alt = strings.TrimSpace(shell.CleanText(alt, 200)); alt != "" {
		words += ": " + alt
	} else if name := LastPathPart(src); name != "" {
		words += ": " + name
	}
	if inLink {
		return "<span>" + html.EscapeString(words) + "</span>"
	}
	return `<a class="pic" href="` + html.EscapeString(src) + `" rel="nofollow noopener noreferrer ugc">` + html.EscapeString(words) + "</a>"
}

// pixels reports a width or a height that is a number.
func isPixels(s string) bool {
	return s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// tiny reports the size of a picture that is there to count who reads.
func isTrackingSize(s string) bool { return s == "0" || s == "1" || s == "2" }
