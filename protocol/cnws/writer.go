package cnws

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/wirehttp"
	"cloudburst/internal/xmlsafe"
)

// Marshal returns the document as XML. The error is a [*FieldError] for an invalid field,
// or describes an invalid element of another namespace.
func (d Document) Marshal() ([]byte, error) {
	switch {
	case d.Subscribe != nil && d.Change == nil && d.Result == nil:
		return d.Subscribe.Marshal()
	case d.Subscribe == nil && d.Change != nil && d.Result == nil:
		return d.Change.Marshal()
	case d.Subscribe == nil && d.Change == nil && d.Result != nil:
		return d.Result.Marshal()
	}
	return nil, errors.New("cnws: a document is exactly one of Subscribe, Change and Result")
}

// Marshal returns s as an XML document; see [Document.Marshal].
func (s Subscribe) Marshal() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	var w writer
	w.begin("subscribe")
	w.field("resourceID", s.ResourceID)
	w.field("notificationURL", s.NotificationURL)
	return w.end("subscribe")
}

// Marshal returns c as an XML document; see [Document.Marshal]. A title of more than
// [MaxTitle] characters is cut. Characters that XML cannot carry are replaced in title and
// description.
func (c Change) Marshal() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	w := writer{}
	if err := w.collect(c.Other); err != nil {
		return nil, err
	}
	w.begin("resourceChange")
	w.field("resourceID", c.ResourceID)
	if !c.ChangeTime.IsZero() {
		w.field("changeTime", c.ChangeTime.UTC().Format(http.TimeFormat))
	}
	w.texts(c.Title, c.Description)
	w.elements(c.Other, Namespace)
	return w.end("resourceChange")
}

// Marshal returns r as an XML document. Title and description are written as by
// [Change.Marshal].
func (r Result) Marshal() ([]byte, error) {
	w := writer{}
	if err := w.collect(r.Other); err != nil {
		return nil, err
	}
	w.begin("result")
	w.field("status", strconv.FormatBool(r.Status))
	w.texts(r.Title, r.Description)
	w.elements(r.Other, Namespace)
	return w.end("result")
}

// CutTitle returns a title as it is written: at most [MaxTitle] characters, cut after a
// word, with an ellipsis.
//
// spec:cnws-2003#title-length
func CutTitle(title string) string {
	title = xmlsafe.Trim(xmlsafe.Clean(title))
	if utf8.RuneCountInString(title) <= MaxTitle {
		return title
	}
	head := []rune(title)[:MaxTitle-1]
	for i, r := range slices.Backward(head) {
		if i < MaxTitle/2 { // the title is one long word, or its script has no spaces
			break
		}
		if unicode.IsSpace(r) {
			head = head[:i]
			break
		}
	}
	return strings.TrimRightFunc(string(head), func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }) + "…"
}

// writer writes one document. It declares the namespaces of all extension elements at the root, so
// the size stays bounded for any number of elements.
type writer struct {
	buf    []byte
	spaces []string // the namespace spaces[i] has the prefix n<i+1>, such as n1
	err    error
}

func (w *writer) begin(action string) {
	w.buf = append(w.buf, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<notification version=\"1.0\" xmlns=\""+Namespace+"\""...)
	for i, s := range w.spaces {
		w.buf = fmt.Appendf(w.buf, " xmlns:n%d=\"", i+1)
		w.attr(s)
		w.buf = append(w.buf, '"')
	}
	w.buf = append(w.buf, ">\n<"+action+">\n"...)
}

func (w *writer) end(action string) ([]byte, error) {
	w.buf = append(w.buf, "</"+action+">\n</notification>\n"...)
	if w.err != nil {
		return nil, fmt.Errorf("cnws: %w", w.err)
	}
	return w.buf, nil
}

func (w *writer) text(s string) {
	var err error
	if w.buf, err = xmlsafe.AppendText(w.buf, s); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) attr(s string) {
	var err error
	if w.buf, err = xmlsafe.AppendAttr(w.buf, s); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) field(name, value string) {
	w.buf = append(w.buf, "<"+name+">"...)
	w.text(value)
	w.buf = append(w.buf, "</"+name+">\n"...)
}

func (w *writer) texts(title, description string) {
	if title = CutTitle(title); title != "" {
		w.field("title", title)
	}
	if description = xmlsafe.Trim(xmlsafe.Clean(description)); description != "" {
		w.field("description", description)
	}
}

// collect checks extension elements and assigns prefixes to their namespaces.
func (w *writer) collect(list []Element) error {
	for _, e := range list {
		if e.Space == Namespace {
			return fmt.Errorf("cnws: the element %s is of the protocol's own namespace; it would be read as a field", wirehttp.Quote(e.Name))
		}
		if err := w.check(e, otherDepth); err != nil {
			return err
		}
	}
	if len(w.spaces) > maxSpaces {
		return fmt.Errorf("cnws: there are elements of more than %d namespaces", maxSpaces)
	}
	return nil
}

func (w *writer) check(e Element, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("cnws: elements are nested more than %d deep", maxDepth-otherDepth+1)
	case !xmlsafe.IsName(e.Name), e.Space == xmlsafe.XMLNSSpace:
		return fmt.Errorf("cnws: %s is not a valid element name", wirehttp.Quote(e.Name))
	case len(e.Attrs) > maxAttrs:
		return fmt.Errorf("cnws: the element %s has more than %d attributes", wirehttp.Quote(e.Name), maxAttrs)
	}
	w.need(e.Space)
	for i, a := range e.Attrs {
		same := func(b Attr) bool { return a.Space == b.Space && a.Name == b.Name }
		if !xmlsafe.IsName(a.Name) || a.Space == xmlsafe.XMLNSSpace || a.Space == "" && a.Name == "xmlns" || slices.ContainsFunc(e.Attrs[:i], same) {
			return fmt.Errorf("cnws: %s is not a valid or unique attribute name of the element %s", wirehttp.Quote(a.Name), wirehttp.Quote(e.Name))
		}
		w.need(a.Space)
	}
	for _, c := range e.Nodes {
		if err := w.check(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) need(space string) {
	if space != "" && space != xmlsafe.XMLSpace && !slices.Contains(w.spaces, space) {
		w.spaces = append(w.spaces, space)
	}
}

// prefix returns the prefix of a name, with its colon.
func (w *writer) prefix(space string) string {
	switch space {
	case "":
		return ""
	case xmlsafe.XMLSpace:
		return "xml:"
	}
	return "n" + strconv.Itoa(slices.Index(w.spaces, space)+1) + ":"
}

// elements writes the extension elements that are children of a message, one per line.
func (w *writer) elements(list []Element, outside string) {
	for _, e := range list {
		w.element(e, outside)
		w.buf = append(w.buf, '\n')
	}
}

// element writes e. outside is the default namespace at this place of the document.
func (w *writer) element(e Element, outside string) {
	name := w.prefix(e.Space) + e.Name
	w.buf = append(w.buf, "<"+name...)
	if e.Space == "" && outside != "" {
		w.buf = append(w.buf, " xmlns=\"\""...)
		outside = ""
	}
	for _, a := range e.Attrs {
		w.buf = append(w.buf, " "+w.prefix(a.Space)+a.Name+"=\""...)
		w.attr(a.Value)
		w.buf = append(w.buf, '"')
	}
	if e.Text == "" && len(e.Nodes) == 0 {
		w.buf = append(w.buf, "/>"...)
		return
	}
	w.buf = append(w.buf, '>')
	from := 0
	for _, c := range e.Nodes {
		at := min(max(c.At, from), len(e.Text))
		for at < len(e.Text) && !utf8.RuneStart(e.Text[at]) {
			at++
		}
		w.text(e.Text[from:at])
		from = at
		w.element(c, outside)
	}
	w.text(e.Text[from:])
	w.buf = append(w.buf, "</"+name+">"...)
}
