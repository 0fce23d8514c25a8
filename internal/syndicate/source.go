package syndicate

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/fault"
	"cloudburst/internal/serve"
)

// source is a parsed document. All formats use the same source, which is immutable.
type source struct {
	raw   []byte
	feed  *feed.Feed // parsed feed; nil: the document is not a feed, see err
	err   error
	kind  string // Content-Type of the document
	cache string // value of Cache-Control
	state int64  // state number, see history; 0: the document is not the newest version
	fingerprints
}

// source returns the parsed document. It reads and parses the document if the cache does not have
// it.
func (l *Layer) source(ctx context.Context, e *entry, s Source) (*source, error) {
	n, err := l.buildOnce(ctx, e, s.Version, nodeKey{kind: read}, func(ctx context.Context) (*node, error) {
		raw := s.Raw
		if raw == nil && s.Load != nil {
			var rawType string
			var err error
			if raw, rawType, err = s.Load(ctx); err != nil {
				return nil, fmt.Errorf("load %s: %w", e.key.name, err)
			}
			s.RawType = cmp.Or(rawType, s.RawType)
		}
		release, err := l.acquireSlot(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		src := l.parse(s, raw)
		return &node{source: src, size: src.size}, nil
	})
	if err != nil {
		return nil, err
	}
	return n.source, nil
}

func (l *Layer) parse(s Source, raw []byte) *source {
	src := &source{raw: raw, kind: s.RawType}
	// The size of the document was checked when it was saved, so the parser must not reject it
	// because of its size.
	o := feed.Options{URL: s.URL, Limits: feed.Limits{Bytes: max(len(raw), 5<<20)}}
	if s.RawType != "" {
		o.Header = http.Header{"Content-Type": {s.RawType}}
	}
	src.feed, src.err = feed.ParseBytes(raw, &o)
	if src.err != nil {
		src.feed = nil
	} else if src.kind == "" {
		src.kind = typeOf(src.feed)
	}
	src.fingerprints = l.fingerprintsOf(src.feed, raw)
	if s.Private && src.feed != nil {
		removePushLinks(src.feed)
	}
	src.cache = cacheControl(src.feed, s.Private)
	if src.kind == "" {
		src.kind = "application/xml"
	}
	return src
}

// removePushLinks removes the cloud, the hubs and the self link of a private feed. A subscription
// at a hub would disclose the URL of the feed, which contains the secret.
func removePushLinks(f *feed.Feed) {
	f.Cloud, f.Clouds, f.Hubs, f.Self = nil, nil, nil, ""
	f.Links = slices.DeleteFunc(f.Links, func(l feed.Link) bool { return l.Rel == "hub" || l.Rel == "self" })
}

// typeOf returns the media type of a saved document with its actual charset.
func typeOf(f *feed.Feed) string {
	kind := "application/xml"
	switch f.Format {
	case feed.RSS:
		kind = "application/rss+xml"
		if f.Version == "1.0" || f.Version == "0.90" {
			kind = "application/rdf+xml"
		}
	case feed.Atom:
		kind = "application/atom+xml"
	case feed.JSONFeed:
		kind = "application/feed+json"
	case feed.CDF:
		kind = "application/x-cdf"
	}
	if f.Encoding != "" {
		kind += "; charset=" + strings.ToLower(f.Encoding)
	}
	return kind
}

// formatOf returns the name of a saved document's format; "": the program cannot render the format.
func formatOf(f *feed.Feed) string {
	switch f.Format {
	case feed.RSS:
		switch f.Version {
		case "0.90":
			return "rss090"
		case "0.91":
			return "rss091"
		case "0.92":
			return "rss092"
		case "0.93":
			return "rss093"
		case "0.94":
			return "rss094"
		case "1.0":
			return "rdf"
		}
		return "rss20"
	case feed.Atom:
		if f.Version == "0.3" {
			return "atom03"
		}
		return "atom"
	case feed.JSONFeed:
		return "jsonfeed"
	case feed.CDF:
		return "cdf"
	case feed.ScriptingNews:
		return "scriptingnews"
	}
	return ""
}

// write builds the complete document of a source in one format.
//
// spec:datafeeds-2006#output-formats
func (l *Layer) write(ctx context.Context, e *entry, s Source, k nodeKey) (*node, error) {
	src, err := l.source(ctx, e, s)
	if err != nil {
		return nil, err
	}
	release, err := l.acquireSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	n := &node{state: src.state}
	body, kind := src.raw, src.kind
	if k.format != "" {
		if body, kind, n.warnings, err = renderAs(src, src.feed, &s, k.format, k.format); err != nil {
			return nil, err
		}
	}
	o := l.options(e, &s, k.format)
	o.Type, o.Cache = kind, src.cache
	n.doc = serve.New(body, o)
	n.size = int64(n.doc.Size()) + sizeOfWarnings(n.warnings)
	return n, nil
}

// renderAs renders f in format. f is the feed of src or a part of it. asked is the format that the
// client requested, which determines the options.
func renderAs(src *source, f *feed.Feed, s *Source, asked, format string) (body []byte, kind string, w []render.Warning, err error) {
	if f == nil {
		return nil, "", nil, fault.Wrap(fault.Unreadable, src.err, "The saved document cannot be read as a feed, so there is no other format of it.")
	}
	known, err := render.Lookup(format)
	if err != nil {
		return nil, "", nil, faultOf(err)
	}
	var o render.Options
	if s.Render != nil {
		o = s.Render(asked)
	}
	if o.Updated.IsZero() {
		o.Updated = s.Modified
	}
	body, w, err = render.Append(nil, s.withRewrittenLinks(f, known.Name), format, &o)
	return body, known.Type, w, faultOf(err)
}

// withRewrittenLinks returns the feed with paging and archive links that lead to documents in the
// same format.
//
// spec:cloudburst#hosted-views
func (s *Source) withRewrittenLinks(f *feed.Feed, format string) *feed.Feed {
	if s.Refer == nil || !slices.ContainsFunc(f.Links, isPagingLink) {
		return f
	}
	part := *f
	part.Links = slices.Clone(f.Links)
	for i := range part.Links {
		if l := &part.Links[i]; isPagingLink(*l) {
			l.Href = s.Refer(format, l.Href)
		}
	}
	if part.Next != "" {
		part.Next = s.Refer(format, part.Next)
	}
	return &part
}

// isPagingLink reports whether a link leads to another document of the same feed.
func isPagingLink(l feed.Link) bool {
	switch l.Rel {
	case "first", "last", "next", "previous", "prev", "current", "prev-archive", "next-archive":
		return true
	}
	return false
}

// options returns the serve options that all documents of a source share.
func (l *Layer) options(e *entry, s *Source, format string) serve.Options {
	l.mu.Lock()
	same := e.same && e.version == s.Version
	l.mu.Unlock()
	o := serve.Options{Modified: s.Modified, Feed: true, Brotli: !s.Private, NoSince: same, Now: l.Now}
	if !s.Private {
		o.Tags = s.Tags
	}
	if s.Link != nil {
		o.Link = s.Link(format)
	}
	return o
}

func sizeOfWarnings(w []render.Warning) (n int64) {
	for _, x := range w {
		n += int64(64 + len(x.Path) + len(x.Text))
	}
	return n
}

// sentence converts the text of an error to a sentence for users. It removes the prefix with the
// package.
func sentence(text string) string {
	_, text, _ = strings.Cut(text, ": ")
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
