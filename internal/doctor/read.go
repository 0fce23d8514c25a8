package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/internal/advice"
	"cloudburst/internal/text"
	"cloudburst/protocol/rsscloud"
)

// read fetches the feed, or finds it on a page first. It ends the examination when
// there is nothing to examine.
func (x *exam) read(ctx context.Context) bool {
	if !x.fetch(ctx) {
		return false
	}
	err := x.parse()
	if e, ok := errors.AsType[*feed.NotFeedError](err); ok && e.Looks == "html" {
		if !x.choose(e.Feeds) || !x.fetch(ctx) {
			return false
		}
		err = x.parse()
	}
	if err != nil {
		x.add(SubjectFeed, "feed-format", Problem, sentence(err), "Let this address answer with the feed, or name the address where the feed is.")
		return false
	}
	x.report.URL = x.first.url
	x.served()
	x.format()
	return true
}

// sentence is an error of a wire package as a sentence.
func sentence(err error) string {
	s := err.Error()
	for _, name := range []string{"feed: ", "rsscloud: ", "websub: "} {
		s = strings.TrimPrefix(s, name)
	}
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// fetch reads x.feed and tells of its redirects.
func (x *exam) fetch(ctx context.Context) bool {
	x.first = x.get(ctx, x.feed, how{most: maxBody})
	x.redirects()
	a := &x.first
	const id = "feed-read"
	switch {
	case a.failure != "":
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s cannot be read: %s.", x.feed, a.failure), "Nobody can follow a feed that cannot be read: mend this first.")
	case a.status == http.StatusOK && len(bytes.TrimSpace(a.body)) == 0:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s answers 200 OK, without a document.", a.url), "Let the server answer with the feed.")
	case a.status == http.StatusOK:
		return true
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s answers %s: programs are kept out.", a.url, statusText(a.status)), "Hubs and readers have no password and no browser: let programs read the feed, whatever their User-Agent.")
	default:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s answers %s.", a.url, statusText(a.status)), "Hubs take only 200 OK for a feed: see why the server answers otherwise.")
	}
	return false
}

// redirects tells of each hop, and of what they come to together.
func (x *exam) redirects() {
	hops := x.first.hops
	for _, h := range hops {
		x.redirect(h)
	}
	if len(hops) > 1 {
		x.add(SubjectFeed, "redirect-chain", Warning, fmt.Sprintf("There are %d redirects, one after the other: each reading takes %d requests.", len(hops), len(hops)+1),
			"Let each old address redirect to the last one at once: "+x.first.url)
	}
}

func (x *exam) redirect(h hop) {
	from, to := hostOf(h.from), hostOf(h.to)
	text := fmt.Sprintf("%s redirects to %s", h.from, h.to)
	fix := "Name the new address wherever the feed is named: in its own rel=self, on the page, in pings."
	level := Note
	switch h.status {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		text += fmt.Sprintf(" for good (%d).", h.status)
	case 0:
		text += "."
	default:
		text += fmt.Sprintf(" for the time being (%d): who follows the feed keeps the old address and asks twice each time.", h.status)
		fix = "If the feed has moved for good, answer 301 or 308."
	}
	switch secure, was := strings.HasPrefix(h.to, "https:"), strings.HasPrefix(h.from, "https:"); {
	case was && !secure:
		level = Warning
		text += " It leads from https to http, which some readers refuse to follow."
		fix = "Redirect to an https address."
	case !was && secure:
		text += " It leads from http to https."
	}
	if from != to {
		text += " It is another host: rssCloud hubs know a feed by its exact address, so pings must name the one that subscribers use."
	}
	x.add(SubjectFeed, "redirect", level, text, fix)
}

// parse reads the document, as readers do and once more as it is written.
func (x *exam) parse() (err error) {
	a := &x.first
	x.doc, err = feed.ParseBytes(a.body, &feed.Options{URL: a.url, Header: a.header})
	if err != nil {
		return err
	}
	x.raw, err = feed.ParseBytes(a.body, &feed.Options{URL: a.url, Header: a.header, KeepRelative: true})
	if err != nil {
		return err
	}
	return x.gather()
}

// choose takes the best feed of a page.
func (x *exam) choose(feeds []discover.Link) bool {
	sure := slices.DeleteFunc(slices.Clone(feeds), func(l discover.Link) bool {
		return l.Guess || rsscloud.CheckFeedURL(l.URL) != nil
	})
	if len(sure) == 0 {
		x.add(SubjectFeed, "feed-found", Problem, fmt.Sprintf("%s is a page, and it names no feed.", x.first.url),
			"Name the feed itself (cloudburst discover looks for it), or let the head of the page name it:\n"+alternate("application/rss+xml", "https://example.org/rss.xml"))
		return false
	}
	text := fmt.Sprintf("%s is a page. It names one feed, which is examined: %s", x.first.url, sure[0].URL)
	if n := len(sure); n > 1 {
		text = fmt.Sprintf("%s is a page. Of the %d feeds that it names, the first is examined: %s", x.first.url, n, sure[0].URL)
	}
	x.add(SubjectFeed, "feed-found", OK, text, "")
	x.feed = sure[0].URL
	return true
}

// served looks at how the feed came.
func (x *exam) served() {
	a := &x.first
	came := size(int64(len(a.body)))
	if a.coded && a.wire > 0 {
		came += ", " + size(a.wire) + " compressed"
	}
	x.add(SubjectFeed, "feed-read", OK, fmt.Sprintf("%s answers 200 OK (%s).", a.url, came), "")
	switch {
	case a.took >= lateAnswer:
		x.add(SubjectFeed, "feed-time", Warning, fmt.Sprintf("It took %s. Hubs give up after a while, often 10 to 30 seconds.", span(a.took)), "Let the server keep the feed ready instead of making it anew for each reader.")
	case a.took >= slowAnswer:
		x.add(SubjectFeed, "feed-time", Note, fmt.Sprintf("It took %s.", span(a.took)), "Let the server keep the feed ready instead of making it anew for each reader.")
	default:
		x.add(SubjectFeed, "feed-time", OK, "It comes without delay.", "")
	}
	const mend = "Keep the newest 20 to 50 items in the feed, and older ones in further pages or an archive."
	switch n := int64(len(a.body)); {
	case !a.whole:
		x.add(SubjectFeed, "feed-size", Problem, fmt.Sprintf("It is larger than %s, more than hubs and readers take.", size(maxBody)), mend)
	case n > hubsLimit:
		x.add(SubjectFeed, "feed-size", Warning, fmt.Sprintf("It is %s large. WebSub hubs usually deliver no more than %s.", size(n), size(hubsLimit)), mend)
	}
	if strings.HasPrefix(a.url, "http:") && !isLocal(hostOf(a.url)) {
		x.add(SubjectFeed, "feed-insecure", Note, "It comes over http: anybody on the way can read and change it.", "Serve it over https too, and redirect the old address once the hubs know the new one.")
	}
}

// format looks at what the feed is, and what it is said to be.
func (x *exam) format() {
	f := x.doc
	name := formatName(f)
	x.add(SubjectFeed, "feed-format", OK, fmt.Sprintf("It is %s: %s, %s.", name, quote(f.Title.Value), text.Plural(len(f.Items), "item")), "")
	if f.Moved != nil && f.Moved.Gone {
		x.add(SubjectFeed, "feed-moved", Problem, "The feed itself says that it is gone.", "Take that element out, if it is not so.")
	} else if f.Moved != nil && f.Moved.To != x.first.url {
		x.add(SubjectFeed, "feed-moved", Warning, "The feed itself says that it has moved to "+short(f.Moved.To, 300)+".", "Examine that address, and redirect the old one to it with status 301.")
	}
	d := &advice.Delivery{Document: x.first.body, URL: x.first.url, Header: x.first.header, Compressed: x.first.coded, Now: x.d.now()}
	found := advice.On(x.raw, d)
	x.mediaType(found)
	if slices.ContainsFunc(found, func(a advice.Finding) bool { return a.Rule == "http-compression" }) {
		x.add(SubjectFeed, "feed-compression", Note, "It is not compressed, though that was offered: it takes several times the bytes that it needs.", "Let the server compress feeds with gzip.")
	} else if x.first.coded {
		x.add(SubjectFeed, "feed-compression", OK, "It is compressed.", "")
	}
	x.problems(found)
}

func (x *exam) mediaType(found []advice.Finding) {
	given := short(x.first.header.Get("Content-Type"), 100)
	wrong := false
	for _, a := range found {
		if a.Rule != "http-type" && a.Rule != "http-charset" {
			continue
		}
		level := Warning
		if a.Level == advice.LevelAdvice {
			level = Note
		}
		wrong = true
		x.add(SubjectFeed, "feed-type", level, fmt.Sprintf("%s (%s) %s", a.Problem, given, a.Effect), a.Fix)
	}
	if !wrong {
		x.add(SubjectFeed, "feed-type", OK, fmt.Sprintf("Its Content-Type, %s, is right.", given), "")
	}
}

// problems sums up what had to be repaired; the command validate has the details.
func (x *exam) problems(found []advice.Finding) {
	worst, n := 0, 0
	var kinds []string
	for _, p := range x.doc.Problems {
		if p.Kind == feed.ProblemType {
			continue // told above
		}
		n++
		if kind := string(p.Kind); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, a := range found {
		if a.Level == advice.LevelError {
			worst++
		}
	}
	see := "See what and where:\ncloudburst validate " + shellWord(x.first.url)
	switch {
	case worst > 0:
		words := fmt.Sprintf("Some readers refuse it, or lose items (%s).", text.Plural(worst, "error"))
		if n > 0 {
			words = fmt.Sprintf("Some readers refuse it, or lose items (%s; %s: %s).", text.Plural(worst, "error"), text.Plural(n, "place")+" had to be repaired", strings.Join(kinds, ", "))
		}
		x.add(SubjectFeed, "feed-valid", Warning, words, see)
	case n > 0:
		x.add(SubjectFeed, "feed-valid", Note, fmt.Sprintf("%s had to be repaired in reading it (%s).", text.Plural(n, "place"), strings.Join(kinds, ", ")), see)
	default:
		x.add(SubjectFeed, "feed-valid", OK, "It can be read without repairing anything.", "")
	}
}

// shellWord is s as one word of a shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", "%27") + "'" }

func formatName(f *feed.Feed) string {
	name := string(f.Format)
	switch f.Format {
	case feed.RSS:
		name = "RSS"
	case feed.Atom:
		name = "Atom"
	case feed.JSONFeed:
		name = "JSON Feed"
	case feed.CDF, feed.MCF:
		name = strings.ToUpper(name)
	}
	return strings.TrimSpace(name + " " + f.Version)
}

// mediaTypeOf is the type under which a feed of this format is served.
func mediaTypeOf(f *feed.Feed) string {
	switch f.Format {
	case feed.Atom:
		return "application/atom+xml"
	case feed.JSONFeed:
		return "application/feed+json"
	case feed.RSS:
		return "application/rss+xml"
	}
	return "application/xml"
}

func alternate(mediaType, address string) string {
	return fmt.Sprintf(`<link rel="alternate" type="%s" href="%s">`, mediaType, escape(address))
}
