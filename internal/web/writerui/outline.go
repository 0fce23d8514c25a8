package writerui

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/feed/opml"
	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// maxOPML is the maximum size of an imported outline in bytes.
const maxOPML = 2 << 20

// outliner is the outline editor of the form. It has a field for the script and a plain text field
// for browsers without scripts.
type outliner struct {
	JSON string // []author.Node, for the script
	Text string // texts of the nodes, for the plain text field
	Rows int    // height of the plain text field in lines
}

// Outliner returns the outline of the form for editing.
func (f postForm) Outliner() outliner {
	nodes, err := author.ReadOutline(f.Outline)
	if err != nil {
		return outliner{Rows: 8} // the page shows the error next to the editor
	}
	o := outliner{JSON: f.Outline, Text: author.WriteOutline(nodes)}
	o.Rows = min(max(8, strings.Count(o.Text, "\n")+2), 40)
	return o
}

func nodeCount(nodes []author.Node) int {
	n := len(nodes)
	for i := range nodes {
		n += nodeCount(nodes[i].Nodes)
	}
	return n
}

type outlineTool struct{ Do, Label, Keys string }

// Tools lists the buttons of the outliner in order.
func (outliner) Tools() []outlineTool {
	return []outlineTool{
		{"add", "New", "Enter"}, {"indent", "Indent", "Tab"}, {"outdent", "Outdent", "Shift+Tab"},
		{"up", "Up", "Ctrl+↑"}, {"down", "Down", "Ctrl+↓"}, {"fold", "Fold", "Ctrl+."},
		{"remove", "Delete", "Ctrl+Shift+Backspace"}, {"undo", "Undo", "Ctrl+Z"}, {"redo", "Redo", "Ctrl+Shift+Z"},
		{"open", "Open OPML", ""},
	}
}

// outlineOfForm returns the outline of a form as JSON. Only browsers without scripts send the field
// outline-text. The field outline then supplies the attributes that plain text cannot contain.
func outlineOfForm(v url.Values) string {
	whole := strings.ToValidUTF8(v.Get("outline"), "\uFFFD")
	if !v.Has("outline-text") {
		return whole
	}
	nodes, err := author.ParseOutline(v.Get("outline-text"))
	if err != nil { // there are too many nodes; saving reports the error
		for line := range strings.Lines(v.Get("outline-text")) {
			nodes = append(nodes, author.Node{Text: strings.TrimSpace(line)})
		}
	} else if before, err := author.ReadOutline(whole); err == nil {
		nodes = author.RestoreAttributes(before, nodes)
	}
	if len(nodes) == 0 {
		return ""
	}
	b, err := json.Marshal(nodes)
	if err != nil {
		return whole // never happens: every value can be encoded
	}
	return string(b)
}

// readOPML converts an imported outline to headlines for the script.
func (s *Pages) readOPML(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	answer := func(code int, v any) error {
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		rw.Header().Set("Cache-Control", "no-store")
		rw.WriteHeader(code)
		_ = json.NewEncoder(rw).Encode(v) // the client may be gone
		return nil
	}
	refuse := func(text string) error {
		return answer(http.StatusUnprocessableEntity, map[string]string{"error": text})
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(rw, r.Body, maxOPML)); err != nil {
		return refuse("The file is larger than 2 MiB, or the upload was incomplete.")
	}
	doc, err := opml.ParseBytes(body.Bytes(), nil)
	if err != nil {
		return refuse("The file is not OPML.")
	}
	title, nodes := author.FromOPML(doc)
	switch n := nodeCount(nodes); {
	case n == 0:
		return refuse("The file has no headlines.")
	case n > author.MaxNodes:
		return refuse("The file has " + shell.FormatCount(n) + " headlines; at most " + shell.FormatCount(author.MaxNodes) + " are accepted.")
	}
	return answer(http.StatusOK, map[string]any{"title": title, "nodes": nodes})
}

// saveOPML sends the outline of a form as an OPML file.
func (s *Pages) saveOPML(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, err := s.readSent(rw, r, "")
	if err != nil {
		return err
	}
	f := readPostForm(got.fields, session.User)
	var c author.Content
	if err := f.apply(&c); err != nil {
		return err
	}
	composer, err := s.Posts.Composer(r.Context(), session.User)
	if err != nil {
		return err
	}
	c, _, err = composer.Preview(author.Content{Title: c.Title, Source: c.Source, Format: c.Format, Outline: c.Outline})
	if err == nil && len(c.Outline) == 0 {
		err = fault.New(fault.Invalid, "The outline has no headlines yet, so there is nothing to save.")
	}
	if err != nil {
		return err
	}
	now := s.CurrentTime()
	doc := s.Posts.ToOPML(author.Post{User: session.User, UpdatedAt: now, Content: c})
	rw.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	rw.Header().Set("Content-Disposition", `attachment; filename="outline.opml"`)
	rw.Header().Set("Cache-Control", "no-store")
	_, _ = doc.WriteTo(rw) // the client may be gone
	return nil
}
