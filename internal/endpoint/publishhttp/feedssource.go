package publishhttp

import (
	"context"
	"strconv"
	"strings"
	"sync"

	feedformat "cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/feedfile"
	"cloudburst/internal/syndicate"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// mostHosted is how many feeds are remembered with what their documents are told to
// say; beyond it all are made again.
const maxHosted = 10_000

// hosted is a feed of which somebody asked for a document: what does not change from
// request to request, so that a request costs no memory for it.
type hosted struct {
	key, user, name, public string
	base                    string // its forms stand under it, "/USER/"
	page                    int    // of a feed in pages; 0: it is none of them
	silent                  bool   // nobody is told of changes
	feeds                   *Feeds
	template                syndicate.Source
	secretly                func(format string) render.Options // Render of the private one

	mu   sync.RWMutex
	told map[string]*told // by format
}

// told is what a document says of itself beside its feed.
type told struct {
	options render.Options
	link    []string
}

// hosted finds what is known of a feed.
func (f *Feeds) hosted(user, name string) *hosted {
	public := f.Public()
	f.mu.RLock()
	h := f.kept[hostedKey{user, name}]
	f.mu.RUnlock()
	if h != nil && h.public == public {
		return h
	}
	h = f.newHosted(user, name, public)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) >= maxHosted {
		clear(f.kept)
	}
	f.kept[hostedKey{user, name}] = h
	return h
}

type hostedKey struct{ user, name string }

func (f *Feeds) newHosted(user, name, public string) *hosted {
	h := &hosted{user: user, name: name, key: user + "/" + name, base: "/" + user + "/", public: public, feeds: f, told: map[string]*told{}, secretly: f.secretly}
	h.template = syndicate.Source{
		Key: h.key,
		Load: func(ctx context.Context) ([]byte, string, error) {
			now, doc, err := f.Authors.Document(ctx, user, name)
			if err == nil && now.AddCloud {
				doc = h.withCloud(ctx, doc, now.Type)
			}
			return doc, now.Type, err
		},
		URL:    public + "/" + user + "/" + pathSaved,
		Render: func(format string) render.Options { return h.about(format).options },
		Link:   func(format string) []string { return h.about(format).link },
		Refer:  func(format, href string) string { return referred(public, format, href) },
	}
	return h
}

// withCloud is a saved document with the cloud and the hub of this server, where it names
// neither; one that cannot get them stays as it is.
//
// spec:cloudburst#add-cloud
func (h *hosted) withCloud(ctx context.Context, doc []byte, contentType string) []byte {
	with, err := feedfile.AddPush(doc, contentType, h.about("").options)
	if err != nil {
		if h.feeds.Log != nil {
			h.feeds.Log.WarnContext(ctx, "a feed is served without the cloud of this server", "feed", h.key, "err", err)
		}
		return doc
	}
	return with
}

// source is the feed's version as everybody may read it.
func (h *hosted) source(now author.Feed) syndicate.Source {
	s := h.template
	s.Version, s.Modified, s.RawType = now.Version, now.SavedAt, now.Type
	return s
}

// hidden is the same for those who have a secret. It names neither a hub, to which the
// address would have to be told, nor the address itself.
func (h *hosted) hidden(now author.Feed) syndicate.Source {
	s := h.source(now)
	s.Private, s.Link, s.Render = true, nil, h.secretly
	s.Load = func(ctx context.Context) ([]byte, string, error) {
		now, doc, err := h.feeds.Authors.Document(ctx, h.user, h.name)
		return doc, now.Type, err
	}
	return s
}

func (f *Feeds) secretly(string) render.Options {
	return render.Options{Sanitize: f.clean, Strict: true}
}

func (h *hosted) about(format string) *told {
	h.mu.RLock()
	t := h.told[format]
	h.mu.RUnlock()
	if t != nil {
		return t
	}
	t = h.tell(format)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[format] = t
	return t
}

// tell says where a document stands, who is asked for news of it, and what other
// forms there are.
//
// spec:cloudburst#hosted-hubs
func (h *hosted) tell(format string) *told {
	self, hub := h.public+paged(formUnder(h.base, format), h.page), h.public+"/websub"
	t := &told{options: render.Options{Self: self, Sanitize: h.feeds.clean, Strict: true}}
	if h.silent {
		t.link = []string{"<" + self + `>; rel="self"`}
	} else {
		t.link = []string{websub.LinkHeader(hub, self)}
		t.options.Hubs, t.options.Cloud = []string{hub}, h.feeds.cloudAt(h.public)
	}
	if format == "html" {
		t.options.Alternates = alternatesOf(h.public + h.base)
	}
	return t
}

// About is what the document of a user's public feed says of where it stands and of who
// tells its readers of changes.
func (f *Feeds) About(user string) render.Options {
	f.start()
	return f.hosted(user, author.Public).about("").options
}

// alternatesOf are the formats of the feed whose forms stand under an address.
func alternatesOf(base string) []feedformat.Link {
	var all []feedformat.Link
	for _, format := range render.Formats() {
		if format.Ext != "" && format.Name != "html" {
			kind, _, _ := strings.Cut(format.Type, ";") // whoever looks for feeds compares the bare type
			all = append(all, feedformat.Link{Rel: "alternate", Href: formUnder(base, format.Name), Type: kind, Title: format.Title})
		}
	}
	return all
}

// formPath is where a form of a public feed stands; "" is the form as it was saved.
func formPath(user, name string) string { return formUnder("/"+user+"/", name) }

// formUnder is formPath of a feed whose forms stand under base.
func formUnder(base, name string) string {
	if name == "" {
		return base + pathSaved
	}
	if format, err := render.Lookup(name); err == nil && format.Ext != "" {
		return base + extPrefix + format.Ext
	}
	return base + pathSaved + "?format=" + name
}

// cloudAt is this server's cloud as a feed names it; nil when public is no URL.
func (f *Feeds) cloudAt(public string) *feedformat.Cloud {
	at := f.Cloud
	if at == nil {
		at = rsscloud.CloudAt
	}
	c := at(public)
	if c.Domain == "" {
		return nil
	}
	return &feedformat.Cloud{
		Domain: c.Domain, Port: strconv.Itoa(c.Port), Path: c.Path,
		RegisterProcedure: c.RegisterProcedure, Protocol: string(c.Protocol),
	}
}
