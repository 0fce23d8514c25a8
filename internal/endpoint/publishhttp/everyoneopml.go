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

// Where the list of all feeds is below /everyone/, and that of the feeds of a user below the
// name of the user.
const (
	pathOPML      = "opml"
	pathFeedsOPML = "feeds.opml"
)

const typeOPML = "text/x-opml; charset=utf-8"

// listKept is how long a list of all feeds is given before it is made anew.
const listKept = 2 * time.Second

// feedList is the list of all feeds, made once for many.
type feedList struct {
	mu     sync.Mutex // whoever comes while it is made waits for it
	doc    *serve.Document
	madeAt time.Time
	public string
}

// subscriptions answers with the public feeds of all who have one, as a list that readers
// import or follow.
//
// spec:cloudburst#everyone-opml
func (f *Feeds) subscriptions(w http.ResponseWriter, r *http.Request) {
	if !reading(w, r, false) {
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, false)
		return
	}
	doc, err := f.listed(r.Context())
	if err != nil {
		f.refuse(w, r, err)
		return
	}
	doc.Answer(w, r)
}

// List answers with the public feeds of all.
func (f *Feeds) List() http.Handler { return http.HandlerFunc(f.subscriptions) }

func (f *Feeds) listed(ctx context.Context) (*serve.Document, error) {
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

// feedsOf answers with the public feeds of one user.
//
// spec:cloudburst#user-opml
func (f *Feeds) feedsOf(w http.ResponseWriter, r *http.Request, user string) {
	if !reading(w, r, false) {
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w, false)
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
	serve.New(body, serve.Options{Type: typeOPML, Cache: "public, max-age=60", Feed: true}).Answer(w, r)
}

// forget has the list made anew when it is asked for next.
func (l *feedList) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doc = nil
}

// ForgetList has the list of all feeds made anew: somebody is in it no more, or is again.
func (f *Feeds) InvalidateList() { f.list.forget() }
