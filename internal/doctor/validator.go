package doctor

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"cloudburst/feed/feedstate"
)

// caching looks at what lets a server answer "unchanged" in a few bytes, and at what
// keeps news back.
func (x *exam) caching(ctx context.Context) bool {
	x.freshness()
	x.vary()
	tag, modified := x.first.header.Get("ETag"), x.first.header.Get("Last-Modified")
	// spec:feedstate-2007#validators
	if tag == "" && modified == "" {
		x.add(SubjectCaching, "validators", Warning, "The answer has neither ETag nor Last-Modified: hubs and readers fetch the whole feed each time, changed or not.",
			"Let the server send an ETag, and answer 304 Not Modified when If-None-Match has it.")
		return true
	}
	x.add(SubjectCaching, "validators", OK, "The answer has "+validators(tag, modified)+".", "")
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

// unchanged reports two readings of one state of the feed.
func (x *exam) unchanged(a *answer) bool { return a.ok() && bytes.Equal(a.body, x.first.body) }

// tags looks at the form of the ETag, and whether it stays while the feed does.
func (x *exam) tags(tag string) {
	if tag == "" {
		return
	}
	if bare := strings.TrimPrefix(tag, "W/"); len(bare) < 2 || bare[0] != '"' || bare[len(bare)-1] != '"' {
		x.add(SubjectCaching, "etag-form", Warning, fmt.Sprintf("The ETag %s is not written as HTTP wants it: some caches and servers drop it.", quote(tag)),
			"Put it between double quotes:\nETag: \""+short(strings.ReplaceAll(bare, `"`, ""), 80)+"\"")
	}
	if again := x.second.header.Get("ETag"); x.unchanged(&x.second) && again != tag {
		x.add(SubjectCaching, "etag-stable", Warning, fmt.Sprintf("The ETag is another each time (%s, then %s), although the feed is the same: it never helps anybody.", quote(tag), quote(again)),
			"Make the ETag from the content, such as a hash of it; on several servers, the same on all. In Apache:\nFileETag MTime Size")
		return
	}
	if other := x.plain.header.Get("ETag"); x.first.coded && x.unchanged(&x.plain) && other != tag && other != "" {
		x.add(SubjectCaching, "etag-coding", Note, fmt.Sprintf("The ETag is %s compressed and %s otherwise. That is allowed; each has to be answered 304.", quote(tag), quote(other)), "")
	}
}

// modified looks at the moment that the server gives for the last change.
func (x *exam) modified(text string) {
	if text == "" {
		return
	}
	at, err := http.ParseTime(text)
	now := x.d.now()
	switch {
	case err != nil:
		x.add(SubjectCaching, "modified-form", Warning, fmt.Sprintf("Last-Modified is %s, which is no date as HTTP writes them.", quote(text)),
			"Write it so:\nLast-Modified: "+now.UTC().Format(http.TimeFormat))
	case at.After(now.Add(5 * time.Minute)):
		x.add(SubjectCaching, "modified-form", Warning, fmt.Sprintf("Last-Modified is %s, which is still to come: caches may take it for nothing.", quote(text)),
			"Set the server's clock, or give the time of the last change.")
	case x.unchanged(&x.second) && x.second.header.Get("Last-Modified") != text:
		x.add(SubjectCaching, "modified-stable", Warning, "Last-Modified is another each time, although the feed is the same: it seems to be the time of the request.",
			"Give the time when the newest item was published or changed.")
	}
}

// conditional asks again as somebody who has the feed.
func (x *exam) conditional(ctx context.Context, id, with string, header http.Header) {
	got := x.get(ctx, x.first.url, how{header: header, most: maxBody})
	asked := "Asked again with " + with + ", the server "
	fix := "Answer 304 Not Modified when If-None-Match has the ETag of the feed as it is, or, without it, when If-Modified-Since is not before the last change."
	switch {
	case got.status == http.StatusNotModified && got.failure == "":
		x.add(SubjectCaching, id, OK, asked+"answers 304: an unchanged feed costs a few bytes.", "")
	case got.failure != "":
		x.add(SubjectCaching, id, Warning, asked+"gave no answer: "+got.failure+".", fix)
	case got.status != http.StatusOK:
		x.add(SubjectCaching, id, Warning, asked+"answers "+statusText(got.status)+" instead of 304.", fix)
	case x.unchanged(&got):
		if tag := header.Get("If-None-Match"); strings.HasSuffix(tag, `-gzip"`) {
			fix = "Apache adds -gzip to the ETag of what it compresses, and does not know it again. Add to its configuration:\n" +
				`RequestHeader edit "If-None-Match" '^"((.*)-gzip)"$' '"$1", "$2"'`
		}
		x.add(SubjectCaching, id, Warning, asked+"sends the same feed again instead of 304.", fix)
	default:
		x.add(SubjectCaching, id, Note, asked+"sends another document: the feed changed just now, or is different each time.", "")
	}
}

// longFresh is how long a hub may be shown an old copy without anybody minding.
const longFresh = 5 * time.Minute

// freshness says how long caches may hold the feed back, and whether one did.
func (x *exam) freshness() {
	now := x.d.now()
	h := x.first.header
	a := feedstate.Answer{Status: http.StatusOK, Header: h, URL: x.first.url}
	a.Read(x.doc, nil)
	s, _ := feedstate.Next(feedstate.New(x.first.url, now), a, now, feedstate.Options{})
	c := s.Cache
	fix := "Let caches hold the feed for a minute or so, and empty them before the ping:\nCache-Control: max-age=60"
	if c.Problem != "" {
		x.add(SubjectCaching, "cache-form", Warning, fmt.Sprintf("%s is %s: %s.", c.From, quote(c.Value), c.Problem), "Write it so:\nCache-Control: max-age=60")
		return
	}
	age := short(h.Get("Age"), 20)
	old := ""
	if age != "" && strings.Trim(age, "0") != "" {
		old = fmt.Sprintf(" This very copy has been in a cache for %s seconds.", age)
	}
	switch {
	case c.Fresh > longFresh:
		x.add(SubjectCaching, "cache-age", Note, fmt.Sprintf("Caches may hold the feed for %s (%s): a hub that reads it through one sees a change only then, and a ping before that finds nothing new.%s", span(c.Fresh), c.From, old), fix)
	case c.From == "no-store":
		x.add(SubjectCaching, "cache-age", Note, "Cache-Control forbids keeping the feed at all: where a hub or reader keeps to it, each reading is a whole one.", "A cache that has to ask each time is enough:\nCache-Control: no-cache")
	case old != "":
		x.add(SubjectCaching, "cache-age", Note, "There is a cache before the server."+old, fix)
	default:
		x.add(SubjectCaching, "cache-age", OK, "No cache holds the feed back for long.", "")
	}
}

// vary looks at what the answer is said to depend on.
func (x *exam) vary() {
	names := map[string]bool{}
	for _, line := range x.first.header.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			names[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	switch {
	case names["*"]:
		x.add(SubjectCaching, "vary", Note, "Vary: * says that no two answers are alike: no cache helps.", "Write Vary: Accept-Encoding.")
	case names["user-agent"], names["cookie"]:
		x.add(SubjectCaching, "vary", Note, fmt.Sprintf("The answer depends on who asks (Vary: %s): a hub may be given another feed than readers.", short(strings.Join(x.first.header.Values("Vary"), ", "), 100)),
			"Give the same feed to everybody, and write Vary: Accept-Encoding.")
	case x.first.coded && !names["accept-encoding"]:
		x.add(SubjectCaching, "vary", Note, "The answer is compressed for those who ask for it, and does not say so: a cache may give it to those who cannot read it.", "Add this field to the answer:\nVary: Accept-Encoding")
	}
}
