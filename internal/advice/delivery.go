package advice

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/feed"
)

// http looks at how the feed was served.
func (a *adviser) http() {
	a.contentType()
	h := a.d.Header
	at := Place{}
	// spec:feedstate-2007#validators
	switch valid := h.Get("ETag") != "" || h.Get("Last-Modified") != ""; {
	case !valid:
		a.add(LevelWarning, "http-validators", at, "The answer has neither ETag nor Last-Modified.", "Each reader fetches the whole feed each time, changed or not.", "Let the server send an ETag, and answer 304 when If-None-Match has it.")
	case a.d.Revalidated != 0 && a.d.Revalidated != http.StatusNotModified:
		a.add(LevelWarning, "http-conditional", Place{Text: "the second request was answered " + strconv.Itoa(a.d.Revalidated)}, "The server does not answer conditional requests.", "Each reader fetches the whole feed each time, changed or not.", "Let the server answer 304 Not Modified when If-None-Match or If-Modified-Since say that the reader has it.")
	}
	if !a.d.Compressed && len(a.d.Document) > 4<<10 {
		a.add(LevelAdvice, "http-compression", Place{Text: strconv.Itoa(len(a.d.Document)>>10) + " kB"}, "The answer is not compressed.", "Each reading takes several times the bytes that it needs.", "Let the server compress feeds with gzip.")
	}
	if strings.Contains(strings.ToLower(h.Get("Cache-Control")), "no-store") {
		a.add(LevelAdvice, "http-no-store", Place{Text: "Cache-Control: " + h.Get("Cache-Control")}, "The server forbids keeping the feed.", "Caches fetch it anew for each reader.", "Write Cache-Control: max-age=300, or what suits.")
	}
	if strings.HasPrefix(a.d.URL, "http://") {
		a.add(LevelAdvice, "http-insecure", Place{Text: a.d.URL}, "The feed comes over http.", "Anybody on the way can read and change it; readers in browsers do not load it.", "Serve it over https, and redirect the old address.")
	}
}

func (a *adviser) contentType() {
	typ := a.d.Header.Get("Content-Type")
	name, params, err := mime.ParseMediaType(typ)
	at := Place{Text: "Content-Type: " + typ}
	if typ == "" || err != nil && name == "" {
		a.add(LevelWarning, "http-type", at, "The answer has no Content-Type that can be read.", "Readers look into the document; browsers offer a download.", "Serve it as "+a.rightType()+".")
		return
	}
	switch {
	case name == "text/html" || name == "application/xhtml+xml":
		a.add(LevelWarning, "http-type", at, "The feed is served as a page.", "Some readers look for a feed in it instead of reading it; browsers show a mess.", "Serve it as "+a.rightType()+".")
	case name == "text/plain" || name == "application/octet-stream" || strings.HasPrefix(name, "image/") || strings.HasPrefix(name, "audio/"):
		a.add(LevelWarning, "http-type", at, "The feed is served as something else.", "Readers look into the document; some refuse it, browsers show its source or download it.", "Serve it as "+a.rightType()+".")
	case strings.Contains(name, "json") != (a.f.Format == feed.JSONFeed):
		a.add(LevelWarning, "http-type", at, "The Content-Type is that of another format.", "Readers that go by it cannot read the feed.", "Serve it as "+a.rightType()+".")
	case name == "application/atom+xml" && a.f.Format != feed.Atom, name == "application/rss+xml" && a.f.Format == feed.Atom, name == "application/rdf+xml" && !a.isRDF():
		a.add(LevelAdvice, "http-type", at, "The Content-Type is that of another kind of feed.", "Readers look into the document.", "Serve it as "+a.rightType()+".")
	}
	// spec:xmltypes-rfc7303#text-xml
	if strings.HasPrefix(name, "text/") && params["charset"] == "" && a.index.known && !a.index.ascii {
		a.add(LevelWarning, "http-charset", at, "The Content-Type is a text without a charset.", "Readers that go by the old rule for texts take it for US-ASCII or Latin-1, and show wrong letters.", "Serve it as "+a.rightType()+", or add ; charset=utf-8.")
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

// Sizes above which readers pay for what they have already.
const (
	bigFeed  = 512 << 10
	hugeFeed = 2 << 20
	manyNews = 200
)

// size looks at how much there is.
func (a *adviser) size() {
	n := len(a.d.Document)
	at := Place{Text: strconv.Itoa(n>>10) + " kB"}
	const fix = "Keep the newest items, and the older ones in further pages or an archive (RFC 5005)."
	switch {
	case n > hugeFeed:
		a.add(LevelWarning, "size", at, "The feed is very large.", "Some readers refuse it; all others fetch it whole after each change.", fix)
	case n > bigFeed:
		a.add(LevelAdvice, "size", at, "The feed is large.", "Readers fetch it whole after each change.", fix)
	}
}

func (a *adviser) limits() {
	if n := len(a.f.Items); n > manyNews {
		a.add(LevelAdvice, "items-many", Place{Text: strconv.Itoa(n) + " items"}, "The feed has many items.", "Readers keep the newest, and fetch all of them after each change.", "Keep the newest 20 to 50, and the older ones in further pages or an archive (RFC 5005).")
	}
}
