package doctor

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloudburst/feed/polling"
)

// caching checks conditional requests, and whether caches delay changes.
func (x *exam) caching(ctx context.Context) bool {
	x.freshness()
	x.vary()
	tag, modified := x.first.header.Get("ETag"), x.first.header.Get("Last-Modified")
	// spec:feedstate-2007#validators
	if tag == "" && modified == "" {
		x.add(SubjectCaching, "validators", Warning, "The response has neither ETag nor Last-Modified, so hubs and readers fetch the whole feed each time, changed or not.",
			"Let the server send an ETag, and return 304 Not Modified if If-None-Match contains it.")
		return true
	}
	x.add(SubjectCaching, "validators", OK, "The response has "+validators(tag, modified)+".", "")
	x.tags(tag)
	x.modified(modified)
	if tag != "" {
		x.conditional(ctx, "conditional-etag", "its ETag", http.Header{"If-None-Match": {tag}})
	}
	if modified != "" {
		x.conditional(ctx, "conditional-modified", "its Last-Modified", http.Header{"If-Modified-Since": {modified}})
	}
	if tag != "" && modified != "" {
		x.conditional(ctx, "conditional-both", "both", http.Header{"If-None-Match": {tag}, "If-Modified-Since": {modified}})
	}
	return true
}

func validators(tag, modified string) string {
	kind := "an ETag"
	if strings.HasPrefix(tag, "W/") {
		kind = "a weak ETag"
	}
	switch {
	case modified == "":
		return kind
	case tag == "":
		return "Last-Modified"
	}
	return kind + " and Last-Modified"
}

// unchanged reports whether a has the same bytes as the first response.
func (x *exam) unchanged(a *answer) bool { return a.ok() && bytes.Equal(a.body, x.first.body) }

// tags checks the form of the ETag, and that the ETag stays the same while the bytes do.
func (x *exam) tags(tag string) {
	if tag == "" {
		return
	}
	if bare := strings.TrimPrefix(tag, "W/"); len(bare) < 2 || bare[0] != '"' || bare[len(bare)-1] != '"' {
		x.add(SubjectCaching, "etag-form", Warning, fmt.Sprintf("The ETag %s does not have the form that HTTP requires, so some caches and servers ignore it.", quote(tag)),
			"Put it in double quotes:\nETag: \""+short(strings.ReplaceAll(bare, `"`, ""), 80)+"\"")
	}
	if again := x.second.header.Get("ETag"); x.unchanged(&x.second) && again != tag {
		x.add(SubjectCaching, "etag-stable", Warning, fmt.Sprintf("The ETag differs each time (%s, then %s) although the feed is the same, so it has no effect.", quote(tag), quote(again)),
			"Derive the ETag from the content, for example as a hash, and use the same one on all servers. In Apache:\nFileETag MTime Size")
		return
	}
	if other := x.plain.header.Get("ETag"); x.first.coded && x.unchanged(&x.plain) && other != tag && other != "" {
		x.add(SubjectCaching, "etag-coding", Note, fmt.Sprintf("The ETag is %s compressed and %s otherwise. That is allowed, but the server must return 304 for each.", quote(tag), quote(other)), "")
	}
}

// modified checks the Last-Modified time.
func (x *exam) modified(text string) {
	if text == "" {
		return
	}
	at, err := http.ParseTime(text)
	now := x.d.now()
	switch {
	case err != nil:
		x.add(SubjectCaching, "modified-form", Warning, fmt.Sprintf("Last-Modified is %s, which is not a valid HTTP date.", quote(text)),
			"Write:\nLast-Modified: "+now.UTC().Format(http.TimeFormat))
	case at.After(now.Add(5 * time.Minute)):
		x.add(SubjectCaching, "modified-form", Warning, fmt.Sprintf("Last-Modified is %s, which is in the future, so caches may ignore it.", quote(text)),
			"Correct the server's clock, or send the time of the last change.")
	case x.unchanged(&x.second) && x.second.header.Get("Last-Modified") != text:
		x.add(SubjectCaching, "modified-stable", Warning, "Last-Modified differs each time although the feed is the same. It seems to be the time of the request.",
			"Send the time of the last change of an item.")
	}
}

// conditional sends a conditional request, as a client does that has a copy of the feed.
func (x *exam) conditional(ctx context.Context, id, with string, header http.Header) {
	got := x.get(ctx, x.first.url, how{header: header, limit: maxBody})
	request := "To a request with " + with + ", the server "
	fix := "Return 304 Not Modified if If-None-Match contains the current ETag, or, without If-None-Match, if If-Modified-Since is not before the last change."
	switch {
	case got.status == http.StatusNotModified && got.failure == "":
		x.add(SubjectCaching, id, OK, request+"returns 304, so an unchanged feed costs only a few bytes.", "")
	case got.failure != "":
		x.add(SubjectCaching, id, Warning, request+"sent no response: "+got.failure+".", fix)
	case got.status != http.StatusOK:
		x.add(SubjectCaching, id, Warning, request+"returns "+statusText(got.status)+" instead of 304.", fix)
	case x.unchanged(&got):
		if tag := header.Get("If-None-Match"); strings.HasSuffix(tag, `-gzip"`) {
			fix = "Apache adds -gzip to the ETag of compressed responses and does not recognise it in requests. Add to its configuration:\n" +
				`RequestHeader edit "If-None-Match" '^"((.*)-gzip)"$' '"$1", "$2"'`
		}
		x.add(SubjectCaching, id, Warning, request+"returns the same feed again instead of 304.", fix)
	default:
		x.add(SubjectCaching, id, Note, request+"returns a different document: the feed changed in the meantime, or it differs each time.", "")
	}
}

// longFresh is the longest acceptable time for which caches may use a copy.
const longFresh = 5 * time.Minute

// freshness checks how long caches can delay a change, and whether a cache returned an old copy.
func (x *exam) freshness() {
	now := x.d.now()
	h := x.first.header
	a := polling.Answer{Status: http.StatusOK, Header: h, URL: x.first.url}
	a.Read(x.doc, nil)
	s, _ := polling.Next(polling.New(x.first.url, now), a, now, polling.Options{})
	c := s.Cache
	fix := "Limit caching to about a minute, or purge caches before the ping:\nCache-Control: max-age=60"
	if c.Problem != "" {
		x.add(SubjectCaching, "cache-form", Warning, fmt.Sprintf("%s is %s: %s.", c.From, quote(c.Value), c.Problem), "Write:\nCache-Control: max-age=60")
		return
	}
	age := short(h.Get("Age"), 20)
	old := ""
	if age != "" && strings.Trim(age, "0") != "" {
		old = fmt.Sprintf(" This copy was in a cache for %s seconds.", age)
	}
	switch {
	case c.Fresh > longFresh:
		x.add(SubjectCaching, "cache-age", Note, fmt.Sprintf("Caches can keep the feed for %s (%s). A hub behind a cache sees a change only after that time, and earlier pings find no change.%s", span(c.Fresh), c.From, old), fix)
	case c.From == "no-store":
		x.add(SubjectCaching, "cache-age", Note, "Cache-Control forbids storing the feed, so hubs and readers that respect it fetch the whole feed each time.", "It is enough if caches revalidate each time:\nCache-Control: no-cache")
	case old != "":
		x.add(SubjectCaching, "cache-age", Note, "There is a cache in front of the server."+old, fix)
	default:
		x.add(SubjectCaching, "cache-age", OK, "No cache delays the feed for long.", "")
	}
}

// vary checks the header Vary.
func (x *exam) vary() {
	names := map[string]bool{}
	for _, line := range x.first.header.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			names[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	switch {
	case names["*"]:
		x.add(SubjectCaching, "vary", Note, "Vary: * declares that every response differs, so no cache helps.", "Write Vary: Accept-Encoding.")
	case names["user-agent"], names["cookie"]:
		x.add(SubjectCaching, "vary", Note, fmt.Sprintf("The response depends on the client (Vary: %s), so a hub can get a different feed than readers.", short(strings.Join(x.first.header.Values("Vary"), ", "), 100)),
			"Send the same feed to all clients, with Vary: Accept-Encoding.")
	case x.first.coded && !names["accept-encoding"]:
		x.add(SubjectCaching, "vary", Note, "The response is compressed on request, without Vary. A cache can send the compressed copy to clients that cannot read it.", "Add this field to the response:\nVary: Accept-Encoding")
	}
}
