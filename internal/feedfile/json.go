package feedfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// jsonShape holds the offsets of a JSON Feed's parts.
type jsonShape struct {
	listStart, listEnd int // offset after "[" of the items and offset of the "]"; 0: no items
	items              []span
	brace              int // offset after "{" of the feed
	version            string
}

// scanJSON finds the parts of a JSON Feed.
func scanJSON(text string) (jsonShape, error) {
	var s jsonShape
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil { // the caller has found the "{"
		return s, brokenJSON(err)
	}
	s.brace = int(dec.InputOffset())
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return s, brokenJSON(err)
		}
		if key == "items" {
			if s.listStart > 0 {
				return s, refuse("the feed has two lists of items: remove one")
			}
			err = s.list(dec)
		} else {
			var v json.RawMessage
			if err = dec.Decode(&v); err == nil && key == "version" {
				_ = json.Unmarshal(v, &s.version) // a version that is not a string is ignored
			}
		}
		if err != nil {
			return s, brokenJSON(err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return s, brokenJSON(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, refuse("the feed is broken and was not changed: there is text after its end")
	}
	if !strings.Contains(s.version, "jsonfeed.org/version/") {
		return s, refuse("the file is JSON but not a JSON Feed: its version is %.100q", s.version)
	}
	return s, nil
}

func brokenJSON(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Msg: "the feed is broken and was not changed: " + err.Error(), Err: err}
}

// list scans the items.
func (s *jsonShape) list(dec *json.Decoder) error {
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return errors.Join(err, refuse("the feed is broken and was not changed: its items are not a list"))
	}
	s.listStart = int(dec.InputOffset())
	for dec.More() {
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		end := int(dec.InputOffset())
		s.items = append(s.items, span{end - len(v), end})
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	s.listEnd = int(dec.InputOffset()) - 1
	return nil
}

// addJSON returns the edits that add an item to a JSON Feed.
func addJSON(t *document, it *feed.Item, o Options) ([]edit, Added, error) {
	s, err := scanJSON(t.text)
	if err != nil {
		return nil, Added{}, err
	}
	if o.Keep > 0 && len(s.items) >= o.Keep {
		if err := newestFirst(t.raw, o.Keep); err != nil {
			return nil, Added{}, err
		}
	}
	out := Added{Format: "jsonfeed", Items: len(s.items) + 1}
	raw, lost, err := jsonItem(it, o)
	if err != nil {
		return nil, out, err
	}
	out.Lost = lost
	var edits []edit
	switch {
	case s.listStart == 0:
		return nil, out, refuse("the feed has no list of items: add \"items\": [] to it")
	case len(s.items) == 0:
		lead := spaceBefore(t.text, s.listEnd)
		l := layoutOf(t.text, lead, "")
		item := indented(raw, l.indent+l.unit, l)
		text := l.line + l.indent + l.unit + item + l.line + l.indent
		edits = []edit{{s.listStart, s.listEnd, text}}
	default:
		first := s.items[0].start
		lead := spaceBefore(t.text, first)
		l := layoutOf(t.text, lead, "")
		if n := len(l.indent); n > 0 && n%2 == 0 { // items are indented by two levels
			l.unit = l.indent[:n/2]
		}
		edits = []edit{{first, first, indented(raw, l.indent, l) + "," + lead}}
	}
	if o.Keep > 0 && out.Items > o.Keep {
		out.Dropped = out.Items - o.Keep
		out.Items = o.Keep
		edits = s.drop(edits, out.Dropped)
	}
	return edits, out, nil
}

// jsonItem renders an item as JSON. JSON Feed cannot hold nested items, outlines and Markdown, so
// jsonItem omits them; their text is also in the item's text.
func jsonItem(it *feed.Item, o Options) (raw []byte, lost []string, err error) {
	alone := *it
	alone.Items = nil
	if it.More != nil {
		more := *it.More
		if len(more.InReplyTo) > 0 {
			lost = append(lost, "JSON Feed cannot represent the post that an item replies to.")
		}
		more.Markdown, more.Outlines, more.InReplyTo = "", nil, nil
		alone.More = &more
	}
	doc, warnings, err := render.Append(nil, &feed.Feed{Title: feed.Text{Value: "x"}, Items: []feed.Item{alone}}, "jsonfeed", &render.Options{Self: o.URL})
	if err != nil {
		return nil, nil, &Error{Msg: "the item could not be written: " + err.Error(), Err: err}
	}
	var f struct{ Items []json.RawMessage }
	if err := json.Unmarshal(doc, &f); err != nil || len(f.Items) != 1 {
		return nil, nil, &Error{Msg: "the item could not be written as JSON", Err: err}
	}
	for _, w := range warnings {
		if isLoss(w) {
			lost = append(lost, w.Text)
		}
	}
	return f.Items[0], lost, nil
}

// indented formats JSON in the document's layout.
func indented(raw []byte, indent string, l layout) string {
	var b bytes.Buffer
	if l.line == "" {
		_ = json.Compact(&b, raw) // raw is valid JSON
		return b.String()
	}
	_ = json.Indent(&b, raw, indent, l.unit) // raw is valid JSON
	if l.line == "\r\n" {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// drop removes the last n items with the commas before them.
func (s *jsonShape) drop(edits []edit, n int) []edit {
	from := len(s.items) - n
	if from == 0 { // nothing remains, so the new item replaces the whole list
		edits[0].text = edits[0].text[:strings.LastIndexByte(edits[0].text, ',')]
		edits[0].end = s.items[len(s.items)-1].end
		return edits
	}
	return append(edits, edit{s.items[from-1].end, s.items[len(s.items)-1].end, ""})
}
