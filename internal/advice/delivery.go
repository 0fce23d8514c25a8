package advice

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/text"
)

// http checks the HTTP response of the feed.
func (a *adviser) http() {
	a.contentType()
	h := a.d.Header
	at := Place{}
	// spec:feedstate-2007#validators
	switch valid := h.Get("ETag") != "" || h.Get("Last-Modified") != ""; {
	case !valid:
		a.add(LevelWarning, "http-validators", at, "The response has neither ETag nor Last-Modified.", "Every reader downloads the whole feed on each request, even if it has not changed.", "Configure the server to send an ETag, and to answer 304 if If-None-Match contains it.")
	case a.d.Revalidated != 0 && a.d.Revalidated != http.StatusNotModified:
		a.add(LevelWarning, "http-conditional", Place{Text: "the second request was answered " + strconv.Itoa(a.d.Revalidated)}, "The server ignores conditional requests.", "Every reader downloads the whole feed on each request, even if it has not changed.", "Configure the server to answer 304 Not Modified if If-None-Match or If-Modified-Since match the current version.")
	}
	if !a.d.Compressed && len(a.d.Document) > 4<<10 {
		a.add(LevelAdvice, "http-compression", Place{Text: text.SizeWords(int64(len(a.d.Document)))}, "The response is not compressed.", "Each download is several times larger than necessary.", "Configure the server to compress feeds with gzip.")
	}
	if strings.Contains(strings.ToLower(h.Get("Cache-Control")), "no-store") {
		a.add(LevelAdvice, "http-no-store", Place{Text: "Cache-Control: " + h.Get("Cache-Control")}, "The server forbids caching the feed.", "Caches download the feed again for each reader.", "Send Cache-Control: max-age=300, or another suitable lifetime.")
	}
	if strings.HasPrefix(a.d.URL, "http://") {
		a.add(LevelAdvice, "http-insecure", Place{Text: a.d.URL}, "The feed is served over http.", "Anyone on the network path can read and change it; readers in browsers do not load it.", "Serve the feed over https and redirect the http URL.")
	}
}

func (a *adviser) contentType() {
	typ := a.d.Header.Get("Content-Type")
	name, params, err := mime.ParseMediaType(typ)
	at := Place{Text: "Content-Type: " + typ}
	if typ == "" || err != nil && name == "" {
		a.add(LevelWarning, "http-type", at, "The response has no valid Content-Type.", "Readers must detect the format; browsers offer a download.", "Serve it as "+a.rightType()+".")
		return
	}
	switch {
	case name == "text/html" || name == "application/xhtml+xml":
		a.add(LevelWarning, "http-type", at, "The feed is served as an HTML page.", "Some readers search the page for a feed link instead of parsing it; browsers display it incorrectly.", "Serve it as "+a.rightType()+".")
	case name == "text/plain" || name == "application/octet-stream" || strings.HasPrefix(name, "image/") || strings.HasPrefix(name, "audio/"):
		a.add(LevelWarning, "http-type", at, "The feed is served with the type of another kind of file.", "Readers must detect the format and some refuse it; browsers show the source or download it.", "Serve it as "+a.rightType()+".")
	case strings.Contains(name, "json") != (a.f.Format == feed.JSONFeed):
		a.add(LevelWarning, "http-type", at, "The Content-Type belongs to another format.", "Readers that rely on it cannot parse the feed.", "Serve it as "+a.rightType()+".")
	case name == "application/atom+xml" && a.f.Format != feed.Atom, name == "application/rss+xml" && a.f.Format == feed.Atom, name == "application/rdf+xml" && !a.isRDF():
		a.add(LevelAdvice, "http-type", at, "The Content-Type is that of another kind of feed.", "Readers must detect the format.", "Serve it as "+a.rightType()+".")
	}
	// spec:xmltypes-rfc7303#text-xml
	if strings.HasPrefix(name, "text/") && params["charset"] == "" && a.index.known && !a.index.ascii {
		a.add(LevelWarning, "http-charset", at, "The Content-Type is a text type without a charset.", "Readers that follow the old rule for text types assume US-ASCII or Latin-1 and show wrong characters.", "Serve it as "+a.rightType()+", or add ; charset=utf-8.")
	}
}

func (a *adviser) rightType() string {
	switch {
	case a.f.Format == feed.Atom:
		return "application/atom+xml"
	case a.f.Format == feed.JSONFeed:
		return "application/feed+json"
	case a.f.Format == feed.CDF:
		return "application/x-cdf"
	case a.f.Format == feed.RSS:
		return "application/rss+xml"
	}
	return "application/xml"
}

// Document sizes, in bytes, above which readers mostly download items that they already have.
const (
	bigFeed  = 512 << 10
	hugeFeed = 2 << 20
	manyNews = 200
)

// size checks the size of the document.
func (a *adviser) size() {
	n := len(a.d.Document)
	at := Place{Text: text.SizeWords(int64(n))}
	const fix = "Limit the feed to the newest items, and move older ones to further pages or an archive (RFC 5005)."
	switch {
	case n > hugeFeed:
		a.add(LevelWarning, "size", at, "The feed is very large.", "Some readers refuse the feed; all others download it completely after each change.", fix)
	case n > bigFeed:
		a.add(LevelAdvice, "size", at, "The feed is large.", "Readers download the whole feed after each change.", fix)
	}
}

func (a *adviser) limits() {
	if n := len(a.f.Items); n > manyNews {
		a.add(LevelAdvice, "items-many", Place{Text: strconv.Itoa(n) + " items"}, "The feed has many items.", "Readers store only the newest items, but download all of them after each change.", "Limit the feed to the newest 20 to 50 items, and move older ones to further pages or an archive (RFC 5005).")
	}
}
