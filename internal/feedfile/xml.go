package feedfile

import (
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// addXML returns the edits that add an item to an XML feed.
func addXML(t *document, it *feed.Item, o Options) ([]edit, Added, error) {
	s, err := scanXML(t)
	if err != nil {
		return nil, Added{}, err
	}
	if o.Keep > 0 && len(s.items) >= o.Keep {
		if err := newestFirst(t.raw, o.Keep); err != nil {
			return nil, Added{}, err
		}
	}
	frag, err := fragmentOf(it, s.format, o)
	if err != nil {
		return nil, Added{}, err
	}
	out := Added{Format: s.format, Lost: frag.lost, Items: len(s.items) + 1}
	edits, err := s.insert(t, frag)
	if err != nil {
		return nil, Added{}, err
	}
	if o.Keep > 0 && out.Items > o.Keep {
		out.Dropped = out.Items - o.Keep
		out.Items = o.Keep
		edits = s.drop(t, edits, out.Dropped)
	}
	for _, d := range s.dates {
		edits = append(edits, edit{d.start, d.end, formatTime(d.layout, o.Now)})
	}
	if s.seq != nil && frag.about != "" {
		edits = append(edits, s.seq.edits(t.text, frag.about, s.droppedAbouts(t, out.Dropped), t.ascii)...)
	}
	return edits, out, nil
}

// formatTime formats a time as feeds write it.
func formatTime(layout string, now time.Time) string {
	s := now.UTC().Format(layout)
	if layout == time.RFC1123 {
		s = strings.Replace(s, "UTC", "GMT", 1)
	}
	return s
}

// insert places an item before the first item, or after the other content.
func (s *shape) insert(t *document, frag fragment) ([]edit, error) {
	if len(s.items) > 0 {
		at := s.items[0].start
		l := layoutOf(t.text, spaceBefore(t.text, at), s.inner)
		text, err := frag.layOut(s.scope, s.space, l, t.ascii)
		return []edit{{at, at, text + l.line + l.indent}}, err
	}
	at, lead := s.last, s.lead
	if at < 0 {
		at, lead = s.contentStart, spaceBefore(t.text, s.contentEnd)
	}
	l := layoutOf(t.text, lead, "")
	if s.last < 0 && l.line != "" { // the space before the end tag is the indentation of the container
		l.indent += l.unit
	}
	text, err := frag.layOut(s.scope, s.space, l, t.ascii)
	return []edit{{at, at, l.line + l.indent + text}}, err
}

// drop removes the last n items, each with the white space before it. edits[0] inserts the new item
// before the first one.
func (s *shape) drop(t *document, edits []edit, n int) []edit {
	for i := len(s.items) - n; i < len(s.items); i++ {
		it := s.items[i]
		if i == 0 { // the new item replaces it
			edits[0].end = it.end
			edits[0].text = strings.TrimRight(edits[0].text, " \t\r\n")
			continue
		}
		edits = append(edits, edit{it.start - len(spaceBefore(t.text, it.start)), it.end, ""})
	}
	return edits
}

// droppedAbouts returns the names in the table of contents of the last n items.
func (s *shape) droppedAbouts(t *document, n int) map[string]bool {
	dropped := map[string]bool{}
	for _, it := range s.items[len(s.items)-min(n, len(s.items)):] {
		if about := aboutOf(t.markup()[it.start:it.end]); about != "" {
			dropped[about] = true
		}
	}
	return dropped
}

// edits adds an item at the head of the table of contents and removes the dropped ones.
func (l *list) edits(text, about string, dropped map[string]bool, ascii bool) []edit {
	prefix := ""
	if i := strings.IndexByte(l.name, ':'); i >= 0 {
		prefix = l.name[:i+1]
	}
	// An attribute without a prefix is in no namespace, so it needs the prefix of RDF.
	attr := "resource"
	if prefix != "" {
		attr = prefix + attr
	}
	li := "<" + prefix + "li " + attr + `="` + escape(about) + `"/>`
	if ascii {
		li = toASCII(li)
	}
	if l.empty {
		tag := strings.TrimRight(strings.TrimSuffix(text[l.whole.start:l.whole.end], "/>"), " \t\r\n")
		return []edit{{l.whole.start, l.whole.end, tag + ">" + li + "</" + l.name + ">"}}
	}
	if len(l.items) == 0 {
		return []edit{{l.inner, l.inner, li}}
	}
	edits := []edit{{l.items[0].start, l.items[0].start, li + l.lead}}
	for i, it := range l.items {
		if !dropped[resourceOf(text[it.start:it.end])] {
			continue
		}
		if i == 0 {
			edits[0].end, edits[0].text = it.end, li
			continue
		}
		edits = append(edits, edit{it.start - len(spaceBefore(text, it.start)), it.end, ""})
	}
	return edits
}

// resourceOf returns the resource that a line of the table of contents references.
func resourceOf(tag string) string {
	for _, quote := range []string{`"`, "'"} {
		if _, rest, ok := strings.Cut(tag, "resource="+quote); ok {
			value, _, _ := strings.Cut(rest, quote)
			return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#34;", `"`, "&apos;", "'", "&#39;", "'", "&amp;", "&").Replace(value)
		}
	}
	return ""
}

// create returns a new feed with one item.
func create(it *feed.Item, o Options) ([]byte, Added, error) {
	if o.New == nil {
		return nil, Added{}, refuse("there is no feed yet")
	}
	f := *o.New
	f.Items = []feed.Item{*it}
	f.Updated = feed.Date{UTC: o.Now.UTC(), Raw: formatTime(time.RFC1123, o.Now)}
	doc, warnings, err := render.Append(nil, &f, "rss20", &render.Options{Self: o.URL})
	if err != nil {
		return nil, Added{}, &Error{Msg: "the feed could not be written: " + err.Error(), Err: err}
	}
	out := Added{Format: "rss20", ID: it.ID, Items: 1, New: true}
	for _, w := range warnings {
		out.Lost = append(out.Lost, w.Text)
	}
	return doc, out, verify(doc, out)
}
