package transfer

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// These are the names of the entries that describe the author's page.
const (
	namePages = "pages.jsonl"
	nameStyle = "style.css"
)

// maxStyle is the maximum size of the style sheet in an archive in bytes.
const maxStyle = 1 << 20

// Site is the interface to the parts of an author's page that are not posts; *author.Site
// implements it.
type Site interface {
	Pages(ctx context.Context, user string) ([]author.Page, error)
	Page(ctx context.Context, user, slug string) (author.Page, error)
	SavePage(ctx context.Context, p author.Page, was string) (author.Page, error)
	StyleSource(ctx context.Context, user string, l author.Look) (string, error)
	SetLook(ctx context.Context, user string, l author.Look, source string, draft bool, via string) (author.Writer, error)
	Pin(ctx context.Context, user string, id int64, via string) error
}

// pageRecord is a page as a line of pages.jsonl.
type pageRecord struct {
	Slug      string    `json:"slug"`
	Title     string    `json:"title"`
	Source    string    `json:"source"`
	Place     int64     `json:"place,omitempty"`
	InMenu    bool      `json:"inMenu,omitempty"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// exportSite writes the pages and the style sheet of a user, if there are any.
func (t *Transfer) exportSite(ctx context.Context, a *archive, w author.Writer) error {
	if t.Site == nil {
		return nil
	}
	pages, err := t.Site.Pages(ctx, w.User)
	if err != nil {
		return err
	}
	if len(pages) > 0 {
		if err := a.entry(namePages, zip.Deflate, func() error { return t.exportPages(ctx, a, pages) }); err != nil {
			return err
		}
	}
	style, err := t.Site.StyleSource(ctx, w.User, w.Look())
	if err != nil || style == "" {
		return err
	}
	return a.text(nameStyle, style+"\n")
}

func (t *Transfer) exportPages(ctx context.Context, a *archive, pages []author.Page) error {
	enc := json.NewEncoder(a)
	enc.SetEscapeHTML(false)
	for _, one := range pages {
		p, err := t.Site.Page(ctx, one.User, one.Slug)
		if fault.CodeOf(err) == fault.NotFound {
			continue // the page was deleted during the export
		}
		if err != nil {
			return err
		}
		if err := enc.Encode(pageRecord{p.Slug, p.Title, p.Source, p.Place, p.InMenu, p.UpdatedAt.UTC()}); err != nil {
			return err
		}
	}
	return nil
}

// importSite imports the pages that the user does not have. It imports the style sheet and the
// pinned post only if the user has none.
func (t *Transfer) importSite(ctx context.Context, user string, o *verifiedArchive, move mover, from author.Profile, res *Result) error {
	if t.Site == nil {
		return nil
	}
	err := o.lines(namePages, func(n int, line []byte) error {
		var rec pageRecord
		if err := json.Unmarshal(line, &rec); err != nil {
			return fault.Wrap(fault.Invalid, err, "Line %d of %s does not describe a page.", n, namePages)
		}
		return t.importPage(ctx, author.Page{User: user, Slug: rec.Slug, Title: rec.Title, Source: move.text(rec.Source), Place: rec.Place, InMenu: rec.InMenu}, res)
	})
	if err == nil {
		err = t.importStyle(ctx, user, o, move, res)
	}
	if err == nil && from.Page.Pinned != 0 {
		err = t.importPin(ctx, user, o, from.Page.Pinned)
	}
	return err
}

func (t *Transfer) importPage(ctx context.Context, p author.Page, res *Result) error {
	switch _, err := t.Site.Page(ctx, p.User, p.Slug); {
	case err == nil:
		return nil
	case fault.CodeOf(err) != fault.NotFound:
		return err
	}
	_, err := t.Site.SavePage(ctx, p, "")
	switch fault.CodeOf(err) {
	case fault.Invalid, fault.Conflict, fault.TooMany:
		res.problem(fmt.Sprintf("The page %s was left out. %s", clip(p.Slug, 60), fault.Message(err)))
		return nil
	}
	return err
}

func (t *Transfer) importStyle(ctx context.Context, user string, o *verifiedArchive, move mover, res *Result) error {
	r, err := o.open(nameStyle)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	css, err := io.ReadAll(io.LimitReader(r, maxStyle))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s is damaged in the archive.", nameStyle)
	}
	w, err := t.Posts.Writer(ctx, user)
	if err != nil || w.Page.Style != "" {
		return err
	}
	_, err = t.Site.SetLook(ctx, user, w.Look(), move.text(string(css)), false, "import")
	if fault.CodeOf(err) == fault.Invalid {
		res.problem("The style sheet was left out. " + fault.Message(err))
		return nil
	}
	return err
}

// importPin pins the post that has the given ID in the archive.
func (t *Transfer) importPin(ctx context.Context, user string, o *verifiedArchive, id int64) error {
	w, err := t.Posts.Writer(ctx, user)
	if err != nil || w.Page.Pinned != 0 {
		return err
	}
	return o.eachPost(func(rec record, _ int) error {
		if rec.ID != id || rec.State != author.Published {
			return nil
		}
		p, err := t.Posts.ByKey(ctx, user, rec.Key, rec.GUID)
		if err == nil {
			err = t.Site.Pin(ctx, user, p.ID, "import")
		}
		if code := fault.CodeOf(err); code == fault.NotFound || code == fault.Invalid {
			return nil // the import left the post out
		}
		return err
	})
}
