package greader

import (
	"cmp"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"time"
)

// atom responds with a stream as an Atom feed, at /reader/atom/ followed by the stream's
// name. This was the original format of Google's server, and apps for The Old Reader use
// it. Unlike the JSON format it has no continuation.
func (c *call) atom() error {
	c.rest = cmp.Or(c.rest, c.form.get("s"))
	q, err := c.query(c.rest, defaultItems, MaxItems)
	if err != nil {
		return err
	}
	left, rounds := q.N, maxRounds
	list, next, err := c.Backend.Items(c.ctx, c.user, batchOf(q, left))
	if err != nil {
		return err
	}
	title := "Reading list"
	switch {
	case q.Stream.Kind == KindFeed && len(list) > 0:
		title = list[0].Origin.Title
	case q.Stream.Name != "":
		title = q.Stream.Name
	}
	title = cmp.Or(title, q.Stream.String())
	c.w.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	e := xml.NewEncoder(c.w)
	head := atomHead{
		Xmlns: "http://www.w3.org/2005/Atom", Reader: "http://www.google.com/schemas/reader/atom/",
		ID: "tag:google.com,2005:reader/" + q.Stream.String(), Title: atomText{"html", title}, Updated: stampOf(c.now()),
	}
	if _, err = io.WriteString(c.w, xml.Header); err == nil {
		err = head.begin(e)
	}
	for err == nil {
		for i := range list {
			if err = e.Encode(entryOf(&list[i])); err != nil {
				return c.ignoreWriteError(err)
			}
		}
		left -= len(list)
		if rounds--; left <= 0 || next == "" || rounds <= 0 {
			break
		}
		q.Continuation = next
		if list, next, err = c.Backend.Items(c.ctx, c.user, batchOf(q, left)); err != nil {
			if c.Log != nil {
				c.Log.WarnContext(c.ctx, "greader: a response was aborted", "err", err)
			}
			panic(http.ErrAbortHandler) // abort the connection: an incomplete response must not look complete
		}
	}
	if err == nil {
		err = e.Flush()
	}
	if err == nil {
		_, err = io.WriteString(c.w, "</feed>\n")
	}
	return c.ignoreWriteError(err)
}

// batchOf returns a query for the next items. It limits the number to what may be in memory at
// once. left is the number of items still to write.
func batchOf(q Query, left int) Query {
	q.N = min(left, batch)
	return q
}

type atomText struct {
	Type string `xml:"type,attr,omitempty"`
	Text string `xml:",chardata"`
}

type atomLink struct {
	Rel    string `xml:"rel,attr"`
	Href   string `xml:"href,attr"`
	Type   string `xml:"type,attr,omitempty"`
	Length int64  `xml:"length,attr,omitempty"`
}

type atomCategory struct {
	Term   string `xml:"term,attr"`
	Scheme string `xml:"scheme,attr"`
	Label  string `xml:"label,attr"`
}

// atomHead is a feed without its entries.
type atomHead struct {
	Xmlns, Reader string
	ID            string
	Title         atomText
	Updated       string
}

// begin writes the start of the feed and leaves the feed element open.
func (h atomHead) begin(e *xml.Encoder) error {
	name := func(s string) xml.Name { return xml.Name{Local: s} }
	start := xml.StartElement{Name: name("feed"), Attr: []xml.Attr{{Name: name("xmlns"), Value: h.Xmlns}, {Name: name("xmlns:gr"), Value: h.Reader}}}
	if err := e.EncodeToken(start); err != nil {
		return err
	}
	for _, of := range []struct {
		name  string
		value any
	}{{"id", h.ID}, {"title", h.Title}, {"updated", h.Updated}} {
		if err := e.EncodeElement(of.value, xml.StartElement{Name: name(of.name)}); err != nil {
			return err
		}
	}
	return e.Flush()
}

// atomEntry is an item.
type atomEntry struct {
	XMLName    xml.Name       `xml:"entry"`
	ID         string         `xml:"id"`
	Categories []atomCategory `xml:"category"`
	Title      atomText       `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Content    atomText       `xml:"content"`
	Author     string         `xml:"author>name,omitempty"`
	Source     atomSource     `xml:"source"`
}

type atomSource struct {
	Stream string     `xml:"gr:stream-id,attr"`
	ID     string     `xml:"id"`
	Title  atomText   `xml:"title"`
	Links  []atomLink `xml:"link"`
}

// scheme is the scheme of categories that are streams.
const scheme = "http://www.google.com/reader/"

func entryOf(it *Item) atomEntry {
	published := time.Unix(it.Published, 0)
	updated := published
	if it.Updated > 0 {
		updated = time.Unix(it.Updated, 0)
	}
	e := atomEntry{
		ID: it.ID, Title: atomText{"html", it.Title}, Published: stampOf(published), Updated: stampOf(updated),
		Content: atomText{"html", it.Summary.Content}, Author: it.Author,
		Source: atomSource{Stream: it.Origin.StreamID, ID: "tag:google.com,2005:reader/" + it.Origin.StreamID, Title: atomText{"html", it.Origin.Title}},
	}
	if it.Origin.HTMLURL != "" {
		e.Source.Links = []atomLink{{Rel: "alternate", Href: it.Origin.HTMLURL, Type: "text/html"}}
	}
	for _, c := range it.Categories {
		e.Categories = append(e.Categories, atomCategory{c, scheme, c[strings.LastIndexByte(c, '/')+1:]})
	}
	page := it.Alternate
	if len(page) == 0 {
		page = it.Canonical
	}
	for _, l := range page {
		e.Links = append(e.Links, atomLink{"alternate", l.Href, l.Type, 0})
	}
	for _, l := range it.Enclosure {
		e.Links = append(e.Links, atomLink{"enclosure", l.Href, l.Type, l.Length})
	}
	return e
}

// stampOf formats a time for Atom.
func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }
