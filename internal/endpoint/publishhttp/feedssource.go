package publishhttp

import (
	"context"
	"strings"
	"sync"

	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/feedfile"
	"cloudburst/internal/serve"
	"cloudburst/internal/syndicate"
)

// maxHosted is the maximum number of cached feeds. When there are more, the whole cache is cleared.
const maxHosted = 10_000

// hosted caches the constant data of a feed, so that requests need not allocate them.
type hosted struct {
	key, user, name, public string
	base                    string // path prefix of all formats, "/USER/"
	at                      string // URL of base, without a format
	page                    int    // page number of a feed in pages; 0: not paged
	unannounced             bool   // the feed has no notifications
	feeds                   *Feeds
	template                syndicate.Source
	privateOptions          func(format string) render.Options // options of the renderer for the private feed

	mu    sync.RWMutex
	infos map[string]*docInfo // key: format
}

// hosted returns the cached data of a feed.
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
	h := &hosted{user: user, name: name, key: user + "/" + name, base: "/" + user + "/", public: public, feeds: f, infos: map[string]*docInfo{}, privateOptions: f.privateOptions}
	h.at = locate(f, h.base)
	h.template = syndicate.Source{
		Key: h.cacheKey(),
		Load: func(ctx context.Context) ([]byte, string, error) {
			now, doc, err := f.Authors.Document(ctx, user, name)
			if err == nil && now.AddCloud {
				doc = h.withCloud(ctx, doc, now.Type)
			}
			return doc, now.Type, err
		},
		URL:    h.at + pathSaved,
		Render: func(format string) render.Options { return h.about(format).options },
		Link:   func(format string) []string { return h.about(format).link },
		Refer:  h.refer,
		Tags:   serve.FeedTags(user),
	}
	return h
}

// cacheKey returns the key under which rendered documents are cached. It contains the URL of the
// feed, because the documents do.
func (h *hosted) cacheKey() string {
	if h.at == h.public+h.base {
		return h.key
	}
	return h.key + " " + h.at
}

// refer is like referred, but also handles a feed at the domain of its author.
func (h *hosted) refer(format, href string) string {
	rest, below := strings.CutPrefix(href, h.at)
	if !below {
		return referred(h.public, format, href)
	}
	path, _ := strings.CutPrefix(referred(h.public, format, h.public+h.base+rest), h.public)
	return locate(h.feeds, path)
}

// Relocate makes f use new results of its function Locate. Call it after the URL of a path has
// changed.
func Relocate(f *Feeds) {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.kept)
}

// withCloud adds the cloud and hub of this server to a saved document that declares neither. If the
// document does not allow that, it is returned unchanged.
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

// source returns the current public version of the feed.
func (h *hosted) source(now author.Feed) syndicate.Source {
	s := h.template
	s.Version, s.Modified, s.RawType = now.Version, now.SavedAt, now.Type
	return s
}

// privateSource returns the current version for readers with a secret. It contains neither a hub
// nor its own URL: the hub would learn the URL, which may contain the secret.
func (h *hosted) privateSource(now author.Feed) syndicate.Source {
	s := h.source(now)
	s.Private, s.Link, s.Render = true, nil, h.privateOptions
	s.Load = func(ctx context.Context) ([]byte, string, error) {
		now, doc, err := h.feeds.Authors.Document(ctx, h.user, h.name)
		return doc, now.Type, err
	}
	return s
}

func (f *Feeds) privateOptions(string) render.Options {
	return render.Options{Sanitize: f.clean, Strict: true}
}

func (h *hosted) about(format string) *docInfo {
	h.mu.RLock()
	t := h.infos[format]
	h.mu.RUnlock()
	if t != nil {
		return t
	}
	t = h.newInfo(format)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.infos[format] = t
	return t
}
