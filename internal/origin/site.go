package origin

import (
	"bytes"
	"context"
	"strings"
)

// Site is the page of an author at the author's own domain. A request at the domain returns the
// page that the public URL has below /<user>/.
type Site struct {
	User   string
	Origin string // origin of the domain: "https://blog.example.org"
	Public string // public URL of this server
}

type siteKey struct{}

// WithSite marks a request as a request for the page of an author at the author's domain.
func WithSite(ctx context.Context, s Site) context.Context {
	return context.WithValue(ctx, siteKey{}, s)
}

// SiteOf returns the site of a request; false: the request is for this server.
func SiteOf(ctx context.Context) (Site, bool) {
	s, ok := ctx.Value(siteKey{}).(Site)
	return s, ok
}

// StaticPath is the prefix of the files that all pages share. These files have the same path at
// every domain.
const StaticPath = "/static/"

// StreamPath is the path of the live log. At the domain of an author, it contains only changes of
// the author's page.
const StreamPath = "/log/stream"

// Rewrite returns a page of this server, rewritten for the domain: URLs and paths of the author's
// page refer to the domain, and other paths to the public URL. It changes only the values of
// attributes. The templates and the sanitizer write values in double quotes, and both escape a
// double quote in a text.
func (s Site) Rewrite(page []byte) []byte {
	out := make([]byte, 0, len(page)+len(page)/8)
	for {
		i := bytes.Index(page, []byte(`="`))
		if i < 0 {
			return append(out, page...)
		}
		out, page = append(out, page[:i+2]...), page[i+2:]
		end := bytes.IndexByte(page, '"')
		if end < 0 {
			return append(out, page...)
		}
		out, page = append(out, s.URL(string(page[:end]))...), page[end:]
	}
}

// URL returns a URL or path of this server, rewritten for the domain. It returns other texts
// unchanged.
func (s Site) URL(ref string) string {
	path, whole := strings.CutPrefix(ref, s.Public)
	switch {
	case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//"):
		return ref
	case whole && (path == "/"+s.User+"/" || strings.HasPrefix(path, "/"+s.User+"/")):
		return s.Origin + path[len(s.User)+1:]
	case whole:
		return ref
	case strings.HasPrefix(path, "/"+s.User+"/"):
		return path[len(s.User)+1:]
	case strings.HasPrefix(path, StaticPath), strings.HasPrefix(path, StreamPath+"?"), path == "/favicon.svg":
		return ref
	}
	return s.Public + path
}
