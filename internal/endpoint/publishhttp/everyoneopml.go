package publishhttp

import (
	"context"
	"net/http"
	"sync"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
)

// Paths of the list of all feeds, below /everyone/, and of a user's feeds, below the name of the
// user.
const (
	pathOPML      = "opml"
	pathFeedsOPML = "feeds.opml"
)

const typeOPML = "text/x-opml; charset=utf-8"

// listKept is the maximum age of a served list of all feeds.
const listKept = 2 * time.Second

// feedList caches the list of all feeds.
type feedList struct {
	mu     sync.Mutex // held during the generation, so that concurrent requests wait
	doc    *serve.Document
	madeAt time.Time
	public string
}

// subscriptions responds with a list, for feed readers, of the public feeds of all users.
//
// spec:cloudburst#everyone-opml
func (f *Feeds) subscriptions(w http.ResponseWriter, r *http.Request) {
	if !allowRead(w, r, false) {
		return
	}
	doc, err := f.listDocument(r.Context())
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	doc.Answer(w, r)
}

// List returns the handler for the list of all public feeds.
func (f *Feeds) List() http.Handler { return http.HandlerFunc(f.subscriptions) }

func (f *Feeds) listDocument(ctx context.Context) (*serve.Document, error) {
	l := &f.list
	l.mu.Lock()
	defer l.mu.Unlock()
	public, now := f.Public(), time.Now()
	if l.doc != nil && l.public == public && now.Sub(l.madeAt) < listKept {
		return l.doc, nil
	}
	feeds, err := f.All(ctx)
	if err != nil {
		return nil, err
	}
	list := &opml.Document{Head: opml.Head{Title: "Everyone who writes at " + public}}
	var newest time.Time
	for _, one := range feeds {
		o := opml.Outline{Text: one.Title, Type: "rss", XMLURL: public + "/" + one.User + "/" + pathSaved, HTMLURL: public + "/" + one.User + "/"}
		if o.Text == "" {
			o.Text = one.User
		}
		list.Add(o)
		if one.SavedAt.After(newest) {
			newest = one.SavedAt
		}
	}
	if !newest.IsZero() {
		list.Head.DateModified = opml.DateOf(newest)
	}
	body, err := list.AppendXML(nil)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The list cannot be written.")
	}
	l.doc = serve.New(body, serve.Options{Type: typeOPML, Cache: "public, max-age=2", Feed: true})
	l.madeAt, l.public = now, public
	return l.doc, nil
}

// feedsOf responds with the public feeds of one user.
//
// spec:cloudburst#user-opml
func (f *Feeds) feedsOf(w http.ResponseWriter, r *http.Request, user string) {
	if !allowRead(w, r, false) {
		return
	}
	list, err := f.FeedsOf(r.Context(), user)
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	body, err := list.AppendXML(nil)
	if err != nil {
		f.refuse(w, r, fault.Wrap(fault.Internal, err, "The list of the feeds of %s cannot be written.", user))
		return
	}
	serve.New(body, serve.Options{Type: typeOPML, Cache: "public, max-age=60", Tags: serve.AuthorTag(user), Feed: true}).Answer(w, r)
}

// forget discards the list, so that the next request generates it again.
func (l *feedList) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doc = nil
}

// InvalidateList discards the cached list of all feeds. Call it after a user was disabled or
// enabled.
func (f *Feeds) InvalidateList() { f.list.forget() }
