package api

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

func (s riverAPI) categories(c *riverCall) error {
	p := c.params("unread")
	unread := p.Boolean("unread")
	if p.Err != nil {
		return p.Err
	}
	rows, err := s.River.Categories(c.ctx(), c.reader, unread)
	if err != nil {
		return err
	}
	list := make([]client.Category, len(rows))
	for i, row := range rows {
		list[i] = client.Category{Name: row.Name, Public: row.Public, Sources: row.Sources}
		if unread {
			list[i].Unread = &rows[i].Unread
		}
	}
	return exchange.OK(c.w, map[string][]client.Category{"categories": list})
}

// categoryName returns the category in the parameter name.
func (c *riverCall) categoryName() (string, error) {
	p := c.params("name")
	name := p.Text("name")
	switch {
	case p.Err != nil:
		return "", p.Err
	case name == "":
		return "", fault.New(fault.Invalid, "The parameter name is missing: it names the category.")
	}
	return name, exchange.FitText("name", name, maxName)
}

func (s riverAPI) putCategory(c *riverCall) error {
	name, err := c.categoryName()
	if err != nil {
		return err
	}
	var in client.CategoryChange
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if in.Name != nil {
		switch err := exchange.FitText("name", *in.Name, maxName); {
		case err != nil:
			return err
		case *in.Name == "":
			return fault.New(fault.Invalid, "The new name is empty: DELETE removes a category.")
		case in.Public != nil:
			return fault.New(fault.Invalid, "A category cannot be renamed and changed in one request: send two. Nothing was changed.")
		}
		err := s.River.RenameCategory(c.ctx(), c.reader, name, *in.Name)
		return exchange.Answer(c.w, categoryAnswer{*in.Name}, err)
	}
	public := in.Public != nil && *in.Public
	if in.Public == nil {
		// If the request does not state Public, an existing category keeps its value.
		list, err := s.River.Categories(c.ctx(), c.reader, false)
		if err != nil {
			return err
		}
		for _, old := range list {
			public = public || old.Name == name && old.Public
		}
	}
	err = s.River.PutCategory(c.ctx(), c.reader, name, public)
	return exchange.Answer(c.w, categoryAnswer{name}, err)
}

type categoryAnswer struct {
	Name string `json:"name"`
}

func (s riverAPI) dropCategory(c *riverCall) error {
	name, err := c.categoryName()
	if err != nil {
		return err
	}
	err = s.River.RenameCategory(c.ctx(), c.reader, name, "")
	return exchange.Answer(c.w, categoryAnswer{name}, err)
}

func (s riverAPI) exportOPML(c *riverCall) error {
	p := c.params("category")
	category := p.Text("category")
	if p.Err != nil {
		return p.Err
	}
	d, err := s.River.Export(c.ctx(), c.reader, category)
	if err != nil {
		return err
	}
	doc, err := d.AppendXML(nil)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	s.extend(c.w)
	if _, err := c.w.Write(doc); err != nil {
		return s.abort(c.r, err)
	}
	return nil
}

// maxOPML is the maximum size of an OPML document in bytes. It is greater than the limit of the
// parser, because the parser's error for a document that is too large is more precise.
const maxOPML = river.MaxOPML + 1<<20

// importOPML imports an OPML document. It sends progress lines and then the result.
func (s riverAPI) importOPML(c *riverCall) error {
	p := c.params("url", "category", "follow")
	o := river.ImportOptions{URL: p.Text("url"), Category: p.Text("category"), Follow: p.Boolean("follow"), Operator: !c.public}
	if p.Err != nil {
		return p.Err
	}
	if err := exchange.FitText("category", o.Category, maxName); err != nil {
		return err
	}
	var doc io.Reader
	switch {
	case o.URL != "":
		if err := exchange.CheckURL("url", o.URL, exchange.MaxURL); err != nil {
			return err
		}
		if c.r.ContentLength > 0 {
			return fault.New(fault.Invalid, "The request has both a document and a url: send only one of them.")
		}
	case o.Follow:
		return fault.New(fault.Invalid, "follow needs a url: an uploaded document cannot be read again.")
	default:
		if err := opmlType(c.r); err != nil {
			return err
		}
		doc = upload{http.MaxBytesReader(c.w, c.r.Body, maxOPML), http.NewResponseController(c.w)}
	}
	c.allowSlowResponse()
	report := &opmlProgress{s: s.Server, w: c.w, enc: json.NewEncoder(c.w)}
	o.Progress = report.progress
	res, err := s.River.Import(c.ctx(), c.reader, doc, o)
	switch {
	case err != nil && !report.begun:
		return err
	case err != nil:
		line := struct {
			exchange.ErrorAnswer
			Result client.ImportedOPML `json:"result"`
		}{exchange.ErrorAnswer{Error: s.bodyFor(c, err)}, form.ImportedOPML(&res)}
		_ = report.writeLine(line) // ignore the error: it means that the client has closed the connection
	default:
		_ = report.writeLine(struct {
			Result client.ImportedOPML `json:"result"`
		}{form.ImportedOPML(&res)})
	}
	return nil
}

// opmlType returns an error for media types other than those of OPML. The content of the document
// determines its format.
func opmlType(r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch media {
	case "text/x-opml", "text/xml", "application/xml", "text/plain", "application/octet-stream", "application/opml+xml":
		return nil
	}
	if err == nil && strings.HasSuffix(media, "+xml") {
		return nil
	}
	return fault.New(fault.Invalid, "Send the document as the body, with Content-Type: text/x-opml, or name it with url.")
}

// opmlProgress writes the progress lines of an OPML import.
type opmlProgress struct {
	s     *Server
	w     http.ResponseWriter
	enc   *json.Encoder
	begun bool
	last  time.Time
}

func (t *opmlProgress) writeLine(v any) error {
	if !t.begun {
		t.begun = true
		t.enc.SetEscapeHTML(false)
		t.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	t.s.extend(t.w)
	if err := t.enc.Encode(v); err != nil {
		return err
	}
	return http.NewResponseController(t.w).Flush()
}

// progress sends a progress line, at most ten times per second.
func (t *opmlProgress) progress(done, total int) {
	now := time.Now()
	if now.Sub(t.last) < 100*time.Millisecond {
		return
	}
	t.last = now
	_ = t.writeLine(struct {
		Done  int `json:"done"`
		Total int `json:"total"`
	}{done, total})
}

func (s riverAPI) lists(c *riverCall) error {
	rows, err := s.River.ReadingLists(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	list := make([]client.List, len(rows))
	for i, l := range rows {
		list[i] = client.List{ID: l.ID, URL: l.URL, Title: l.Title, Category: l.Category, Feeds: l.Feeds,
			ReadAt: form.When(l.ReadAt), NextAt: form.When(l.NextAt), Problem: l.Problem}
	}
	return exchange.OK(c.w, map[string][]client.List{"lists": list})
}

func (s riverAPI) dropList(c *riverCall) error {
	p := c.params("remove")
	remove := p.Boolean("remove")
	if p.Err != nil {
		return p.Err
	}
	id, err := c.id()
	if err != nil {
		return err
	}
	err = s.River.DropReadingList(c.ctx(), c.reader, id, remove)
	return exchange.Answer(c.w, removedID{id}, err)
}

type removedID struct {
	ID int64 `json:"removed,string"`
}
