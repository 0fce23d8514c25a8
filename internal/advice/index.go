package advice

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// docIndex contains the positions of the elements of a document, and content that the parser
// discards.
type docIndex struct {
	places   map[docKey]Place
	linkGUID map[int]bool   // key: item number; true: the guid lacks isPermaLink="false"
	authors  map[int]string // key: item number; value: content of RSS <author>
	editors  map[string]string
	ascii    bool
	known    bool
}

// docKey identifies the first element with a name in an item. Item 0 is the feed; items count from
// 1. The name "" means the item or feed itself. Names have their usual prefix, such as itunes:image.
type docKey struct {
	item int
	name string
}

// maxIndexed is the maximum number of indexed elements. A finding about any further element has the
// place of its item only.
const maxIndexed = 50_000

func indexOf(f *feed.Feed, d Delivery) docIndex {
	x := docIndex{places: map[docKey]Place{}, linkGUID: map[int]bool{}, authors: map[int]string{}, editors: map[string]string{}}
	if len(d.Document) == 0 {
		return x
	}
	x.known = true
	typ := ""
	if d.Header != nil {
		typ = d.Header.Get("Content-Type")
	}
	text := charset.Decode(d.Document, typ).Text
	x.ascii = strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
	if f.Format == feed.JSONFeed {
		x.json(text)
	} else {
		x.xml(text)
	}
	return x
}

// put records the place of an element, unless an element with the same key is already recorded.
func (x *docIndex) put(k docKey, p Place) {
	if _, ok := x.places[k]; !ok && len(x.places) < maxIndexed {
		x.places[k] = p
	}
}

func (x *docIndex) xml(text string) {
	r := scan.New(text, scan.Options{Depth: 100, Attributes: 256})
	items, inside := 0, 0 // depth of the open item; 0: none
	for {
		switch r.Next() {
		case scan.EOF:
			return
		case scan.End:
			if r.Depth() < inside {
				inside = 0
			}
		case scan.Start:
			depth := r.Depth()
			switch {
			case inside == 0 && (r.Local == "item" || r.Local == "entry") && !inExtension(r):
				items++
				inside = depth
				x.put(docKey{items, ""}, Place{r.Line(r.Offset()), pathOf(r, items), ""})
				r.Siblings(r.Local, depth)
			case inside > 0 && depth == inside+1:
				x.element(r, items)
			case inside == 0 && depth == 1:
				x.put(docKey{0, ""}, Place{r.Line(r.Offset()), r.Name, ""})
			case depth == 2 && r.Local == "channel":
				x.places[docKey{0, ""}] = Place{r.Line(r.Offset()), pathOf(r, 0), ""}
			case inside == 0 && depth <= 3:
				x.element(r, 0)
			}
		}
	}
}

// inExtension reports whether the parent of the current element belongs to another vocabulary.
func inExtension(r *scan.Reader) bool {
	if r.Depth() <= 2 {
		return false
	}
	parent := scan.Prefix(r.Open(r.Depth() - 1))
	return parent != "" && parent != "rdf" && parent != scan.Prefix(r.Name)
}

// element records a child element of an item. item is the item's number; 0: the feed.
func (x *docIndex) element(r *scan.Reader, item int) {
	k := docKey{item, strings.ToLower(r.Name)}
	_, again := x.places[k]
	x.put(k, Place{r.Line(r.Offset()), pathOf(r, item), ""})
	if again {
		return
	}
	switch k.name {
	case "guid":
		if v, _ := r.Attr("ispermalink"); !strings.EqualFold(strings.TrimSpace(v), "false") && item > 0 {
			x.linkGUID[item-1] = true
		}
	case "author":
		if text, markup := r.Leaf(); !markup && item > 0 {
			x.authors[item-1] = text
		}
	case "managingeditor", "webmaster":
		if text, markup := r.Leaf(); !markup && item == 0 {
			x.editors[k.name] = text
		}
	}
}

// pathOf returns the element path of the current position. item is the number of the enclosing item;
// 0: none.
func pathOf(r *scan.Reader, item int) string {
	var b strings.Builder
	for d := 1; d <= r.Depth(); d++ {
		if d > 1 {
			b.WriteByte('/')
		}
		b.WriteString(r.Open(d))
		if l := r.OpenLocal(d); item > 0 && (l == "item" || l == "entry") {
			b.WriteString("[" + strconv.Itoa(item) + "]")
			item = 0
		}
	}
	return b.String()
}

// json indexes the document up to the first invalid JSON.
func (x *docIndex) json(text string) {
	dec := json.NewDecoder(strings.NewReader(text))
	line, counted := 1, 0
	here := func() int {
		at := int(dec.InputOffset())
		line += strings.Count(text[counted:at], "\n")
		counted = at
		return line
	}
	// An error is ignored: the index then ends at the first invalid JSON.
	_ = object(dec, func(name string) (bool, error) {
		x.put(docKey{0, ""}, Place{Line: 1})
		x.put(docKey{0, name}, Place{here(), name, ""})
		if name != "items" {
			return false, nil
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return true, err
		}
		for n := 1; dec.More(); n++ {
			path := "items[" + strconv.Itoa(n-1) + "]" // zero-based
			if err := object(dec, func(name string) (bool, error) {
				x.put(docKey{n, ""}, Place{here(), path, ""})
				x.put(docKey{n, name}, Place{here(), path + "." + name, ""})
				return false, nil
			}); err != nil {
				return true, err
			}
		}
		_, err := dec.Token()
		return true, err
	})
}

// errNoObject stops the indexing at a value that is not an object.
var errNoObject = errors.New("expected a JSON object")

// object calls member for each name in the next JSON object. member reports whether it has read the
// value; otherwise object skips the value.
func object(dec *json.Decoder, member func(name string) (read bool, err error)) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return cmp.Or(err, errNoObject)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string) // JSON object names are always strings
		read, err := member(name)
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		if !read {
			if err := dec.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	_, err := dec.Token()
	return err
}
