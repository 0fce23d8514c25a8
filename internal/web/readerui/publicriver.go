package readerui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/feed/render"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	documents "cloudburst/internal/serve"
	"cloudburst/internal/web/shell"
)

// itemsOfFeed is the maximum number of items in the feed of a category.
const itemsOfFeed = 50

// public serves a page of a public category. While the category is private, its signed-in owner
// sees a preview of the page.
func (s *riverPages) public(page func(http.ResponseWriter, *http.Request, riverScope) error) shell.Page {
	return func(rw http.ResponseWriter, r *http.Request) error {
		st, err := s.publicScope(r)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			return s.NotFound(rw, r)
		case err != nil:
			return err
		}
		return page(rw, r, st)
	}
}

// publicScope returns the scope in the path of r, if the user may see it.
func (s *riverPages) publicScope(r *http.Request) (riverScope, error) {
	owner, category := r.PathValue("owner"), r.PathValue("category")
	reader := s.readerOf(owner)
	categories, err := s.River.Categories(r.Context(), reader, false)
	if err != nil {
		return riverScope{}, err
	}
	for _, c := range categories {
		if c.Name != category {
			continue
		}
		if !c.Public {
			who, may, err := s.readerOrReason(r)
			if err != nil {
				return riverScope{}, err
			}
			if may != accessWrite || who != reader {
				break
			}
		}
		return riverScope{Reader: reader, May: accessRead, Root: PublicPath(owner, category), Category: category, Public: owner, Private: !c.Public}, nil
	}
	return riverScope{}, fault.New(fault.NotFound, "There is no public river with that name.")
}

// publicIndexView lists the public rivers of one owner.
type publicIndexView struct {
	shell.View
	Owner  string
	Rivers []publicRiver
}

type publicRiver struct {
	Name, Href string
	Feeds      int64
	Formats    []categoryDoc
}

func (s *riverPages) publicIndex(rw http.ResponseWriter, r *http.Request) error {
	owner := r.PathValue("owner")
	categories, err := s.River.Categories(r.Context(), s.readerOf(owner), false)
	if err != nil {
		return err
	}
	v := publicIndexView{View: s.NewView(r, "Rivers"), Owner: shell.CleanText(owner, 60)}
	for _, c := range categories {
		if c.Public {
			href := PublicPath(owner, c.Name)
			v.Rivers = append(v.Rivers, publicRiver{shell.CleanText(c.Name, 100), href, c.Sources, categoryDocs(href)})
		}
	}
	if len(v.Rivers) == 0 {
		return s.NotFound(rw, r)
	}
	v.Heading = v.Say("Rivers of %s", v.Owner)
	if owner == "server" {
		v.Heading = v.Say("Rivers of this server")
	}
	v.Title = v.Heading
	return s.Render(rw, r, http.StatusOK, "rivers", v)
}

// publicFeed serves the newest items of a category as a feed.
func (s *riverPages) publicFeed(rw http.ResponseWriter, r *http.Request, st riverScope) error {
	ext, ok := strings.CutPrefix(r.PathValue("file"), "feed.")
	format := map[string]string{"rss": "rss20", "xml": "rss20", "atom": "atom", "json": "jsonfeed"}[ext]
	if !ok || format == "" {
		return s.NotFound(rw, r)
	}
	f, err := render.Lookup(format)
	if err != nil {
		return err
	}
	list, err := s.River.Items(r.Context(), river.ItemQuery{Reader: st.Reader, Category: st.Category, Public: true, Limit: itemsOfFeed})
	if err != nil {
		return err
	}
	at := newestChange(list)
	self := s.BaseURL(r) + st.Root + "/feed." + ext
	body, _, err := render.Append(nil, s.feedOf(r, st, list, at), format, &render.Options{Self: self, Updated: at, Generator: &feed.Generator{Name: "Cloudburst", Version: s.Version}})
	if err != nil {
		return err
	}
	s.document(rw, r, st, body, documents.Options{Type: f.Type})
	return nil
}

// document sends a document of a category. It has an ETag and no Last-Modified: when a feed leaves the
// category, the time of the newest item goes back.
func (s *riverPages) document(rw http.ResponseWriter, r *http.Request, st riverScope, body []byte, o documents.Options) {
	o.Cache, o.Feed, o.Now = "public, max-age=60", true, s.CurrentTime
	if st.Private {
		o.Cache = "private, max-age=60"
	}
	documents.New(body, o).Answer(rw, r)
}

// newestChange returns the time of the newest arrival or edit.
func newestChange(list []river.Entry) (at time.Time) {
	for _, e := range list {
		for _, t := range []time.Time{e.At, e.EditedAt, e.WithdrawnAt} {
			if t.After(at) {
				at = t
			}
		}
	}
	return at
}

// feedOf converts a river to a feed. Of two items with one ID, which two feeds of a site share, the
// feed has the newer one.
func (s *riverPages) feedOf(r *http.Request, st riverScope, list []river.Entry, at time.Time) *feed.Feed {
	f := &feed.Feed{Title: plain(st.Category), Link: s.BaseURL(r) + st.Root, Subtitle: plain("New items in the category " + st.Category + "."), Items: []feed.Item{}}
	f.ID, f.Updated = f.Link, feed.Date{UTC: at}
	seen := map[string]bool{}
	for i := range list {
		id := publicID(f.Link, &list[i])
		if !seen[id] {
			f.Items = append(f.Items, itemOf(&list[i], id))
		}
		seen[id] = true
	}
	return f
}

func plain(s string) feed.Text { return feed.Text{Value: s, Type: "text/plain"} }

func itemOf(e *river.Entry, id string) feed.Item {
	it := feed.Item{ID: id, Link: e.Link, Published: feed.Date{UTC: e.Published}, Updated: feed.Date{UTC: e.EditedAt}}
	if it.Published.UTC.IsZero() {
		it.Published.UTC = e.At
	}
	if e.Title != "" {
		it.Title = plain(e.Title)
	}
	if e.HTML != "" {
		it.Content = []feed.Text{{Value: e.HTML, Type: "text/html"}}
	}
	for _, name := range e.Authors {
		it.Authors = append(it.Authors, feed.Person{Name: name})
	}
	for _, c := range e.Categories {
		it.Categories = append(it.Categories, feed.Category{Term: c})
	}
	for _, f := range e.Enclosures {
		it.Enclosures = append(it.Enclosures, feed.Enclosure{URL: f.URL, Type: f.Type, Length: f.Length, Title: f.Title, Duration: f.Duration})
	}
	it.Source = &feed.Source{Title: plain(e.Source.Title), Link: e.Source.Home, URL: e.Source.URL}
	return it
}

// publicOPML sends the list of a category's feeds.
func (s *riverPages) publicOPML(rw http.ResponseWriter, r *http.Request, st riverScope) error {
	body, err := s.listOf(r.Context(), st)
	if err != nil {
		return err
	}
	s.document(rw, r, st, body, documents.Options{Type: "text/x-opml; charset=utf-8"})
	return nil
}

func (s *riverPages) listOf(ctx context.Context, st riverScope) ([]byte, error) {
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: st.Reader, Category: st.Category})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f river.Followed) bool { return f.Source.Hidden() })
	doc := &opml.Document{Head: opml.Head{Title: st.Category}}
	for _, f := range list {
		o := opml.Outline{Text: f.Name(), Title: f.Source.About.Title, Type: "rss", XMLURL: f.Source.URL}
		if u, err := url.Parse(f.Source.About.Home); err == nil && u.Host != "" {
			o.HTMLURL = f.Source.About.Home
		}
		doc.Add(o)
	}
	return doc.AppendXML(nil)
}
