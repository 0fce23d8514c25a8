package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// blogger is an export of Blogger: the Atom file of the blog's own export, or the archive of Google
// Takeout with such a file and albums.
type blogger struct {
	a     *foreignArchive
	feeds []string
	// single is the Atom file if there is no archive.
	single io.ReaderAt
	size   int64
	title  string
}

// These are the reasons for omitting entries of a Blogger export.
const (
	omitComment = "Comments of readers"
	omitPage    = "Pages outside of the blog's posts"
	omitTrash   = "Posts in the trash"
)

// isBlogger reports whether head is the beginning of an Atom file with the categories or elements
// of Blogger's export.
func isBlogger(head []byte) bool {
	return bytes.Contains(head, []byte("<feed")) &&
		(bytes.Contains(head, []byte("schemas.google.com/blogger/2018")) || bytes.Contains(head, []byte("schemas.google.com/blogger/2008/kind#")))
}

// importBlogger imports a single Atom file.
func (t *Transfer) importBlogger(ctx context.Context, user string, r io.ReaderAt, size int64, opts Options, progress Progress) (Result, error) {
	a := &foreignArchive{byName: map[string]archived{}, byBase: map[string]string{}}
	return t.importForeign(ctx, user, a, &blogger{a: a, single: r, size: size}, opts, progress)
}

func openBlogger(a *foreignArchive) source {
	s := &blogger{a: a}
	for _, name := range a.names {
		if path.Base(name) != "feed.atom" && !strings.HasSuffix(name, ".xml") {
			continue
		}
		head := make([]byte, sniffFormat)
		n := 0
		err := a.read(name, func(r io.Reader) (err error) {
			n, err = io.ReadFull(r, head)
			return err
		})
		if (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && isBlogger(head[:n]) {
			s.feeds = append(s.feeds, name)
		}
	}
	if len(s.feeds) == 0 {
		return nil
	}
	return s
}

func (s *blogger) kind() string { return "blogger" }

func (s *blogger) profile() author.Profile { return author.Profile{Title: clip(s.title, 300)} }

func (s *blogger) posts(ctx context.Context, each func(*foreignPost) error) error {
	if s.single != nil {
		return s.entries(ctx, "The Blogger export", io.NewSectionReader(s.single, 0, s.size), each)
	}
	for _, name := range s.feeds {
		if err := s.a.read(name, func(r io.Reader) error { return s.entries(ctx, name, r, each) }); err != nil {
			return err
		}
	}
	return nil
}

// entries calls each for every entry of an Atom file.
func (s *blogger) entries(ctx context.Context, name string, r io.Reader, each func(*foreignPost) error) error {
	in := &itemLimit{r: &cleanXML{in: bufio.NewReaderSize(r, 64<<10)}}
	d := xml.NewDecoder(in)
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // Blogger always writes UTF-8
	depth, n := 0, 0
	for {
		in.left, in.tags = maxWXRItem, maxWXRTags
		token, err := d.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return nil
		}
		var e wxrElement
		switch x := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				depth++
				continue
			}
			err = d.DecodeElement(&e, &x)
		case xml.EndElement:
			depth--
		}
		switch {
		case ctx.Err() != nil:
			return fault.Wrap(fault.Unavailable, ctx.Err(), "The import was cancelled.")
		case err != nil:
			line, _ := d.InputPos()
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fault.Wrap(fault.Invalid, err, "Nothing was imported: %s cannot be read beyond line %d, after %d entries: it is incomplete or not well-formed. Export it again.", clip(name, 100), line, n)
		case e.XMLName.Local == "title" && s.title == "":
			s.title = strings.TrimSpace(e.Text)
		case e.XMLName.Local == "entry":
			n++
			if p := s.post(&e); p != nil {
				if err := each(p); err != nil {
					return err
				}
			}
		}
	}
}

// post converts an entry. It returns nil for settings and templates.
func (s *blogger) post(e *wxrElement) *foreignPost {
	p := &foreignPost{}
	kind, id := bloggerKind(e), strings.TrimSpace(e.atom("id"))
	switch {
	case kind == "comment":
		p.Omit = omitComment
	case kind == "page":
		p.Omit = omitPage
	case kind != "post":
		return nil
	case strings.Contains(e.atom("status"), "TRASHED") || strings.TrimSpace(e.atom("trashed")) != "":
		p.Omit = omitTrash
	case id == "":
		p.Omit = omitInvalid
	}
	if p.Omit != "" {
		return p
	}
	old := cmp.Or(e.alternate(), strings.TrimSpace(e.atom("filename")))
	p.identify(s.kind(), id, webURL(old))
	p.GUID = id // the feed of the blog has the same GUID
	if webURL(old) == "" && strings.HasPrefix(old, "/") {
		p.Old = append(p.Old, old)
	}
	p.Slug = strings.TrimSuffix(path.Base(urlPath(old)), ".html")
	if old == "" {
		p.Slug = ""
	}
	p.date(e.atom("published"), e.atom("updated"))
	status := strings.TrimSpace(e.atom("status"))
	switch {
	case status == "DRAFT" || strings.TrimSpace(e.find("control").atom("draft")) == "yes":
		p.draft()
		p.Note = ""
	case status == "SCHEDULED" && p.State == author.Published:
		p.State, p.DueAt, p.PublishedAt, p.GUID, p.Old = author.Scheduled, p.PublishedAt, time.Time{}, "", nil
	}
	p.Title = clip(oneLine(unescape(e.atom("title"))), 290)
	p.Source, p.Format = e.atom("content"), author.HTML
	for i := range e.Elements {
		if c := &e.Elements[i]; c.XMLName.Local == "category" && c.attr("scheme") != "http://schemas.google.com/g/2005#kind" {
			p.label(c.attr("term"))
		}
	}
	p.insertFiles(s.media)
	return p
}

// media finds an uploaded image by its name, because Takeout does not record its URL.
func (s *blogger) media(ref string) string {
	u, err := url.Parse(ref)
	if err != nil || u.Host == "" || !strings.Contains(u.Host, "google") && !strings.Contains(u.Host, "blogspot") {
		return ""
	}
	name, err := url.QueryUnescape(path.Base(u.Path))
	if err != nil {
		return ""
	}
	return s.a.byBase[name]
}

// bloggerKind returns "post", "page", "comment" or another kind of entry.
func bloggerKind(e *wxrElement) string {
	if kind := strings.TrimSpace(e.atom("type")); kind != "" {
		return strings.ToLower(kind)
	}
	for i := range e.Elements {
		if c := &e.Elements[i]; c.XMLName.Local == "category" && c.attr("scheme") == "http://schemas.google.com/g/2005#kind" {
			_, kind, _ := strings.Cut(c.attr("term"), "#")
			return kind
		}
	}
	return ""
}

// find returns the first child element with the given local name, or an empty element.
func (e *wxrElement) find(local string) *wxrElement {
	for i := range e.Elements {
		if e.Elements[i].XMLName.Local == local {
			return &e.Elements[i]
		}
	}
	return &wxrElement{}
}

// atom returns the text of the first child element with the given local name.
func (e *wxrElement) atom(local string) string { return e.find(local).Text }

// alternate returns the URL of the page of an entry.
func (e *wxrElement) alternate() string {
	for i := range e.Elements {
		if l := &e.Elements[i]; l.XMLName.Local == "link" && l.attr("rel") == "alternate" {
			return webURL(l.attr("href"))
		}
	}
	return ""
}
