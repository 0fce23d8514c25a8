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

// read fetches the feed, or first finds it on a page. It ends the examination if no feed
// is found.
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
		x.add(SubjectFeed, "feed-format", Problem, sentence(err), "Serve the feed at this URL, or examine the URL of the feed.")
		return false
	}
	x.result.URL = x.first.url
	x.served()
	x.format()
	return true
}

// sentence converts an error of a protocol package to a sentence.
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

// fetch requests x.feed and reports its redirects.
func (x *exam) fetch(ctx context.Context) bool {
	x.first = x.get(ctx, x.feed, how{limit: maxBody})
	x.redirects()
	a := &x.first
	const id = "feed-read"
	switch {
	case a.failure != "":
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("Fetching %s failed: %s.", x.feed, a.failure), "Nobody can follow a feed that is not readable, so fix this first.")
	case a.status == http.StatusOK && len(bytes.TrimSpace(a.body)) == 0:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s returns 200 OK without a document.", a.url), "Let the server return the feed.")
	case a.status == http.StatusOK:
		return true
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s returns %s: the server does not let programs in.", a.url, statusText(a.status)), "Hubs and readers have no password and no browser. Let all programs read the feed, whatever their User-Agent.")
	default:
		x.add(SubjectFeed, id, Problem, fmt.Sprintf("%s returns %s.", a.url, statusText(a.status)), "Hubs accept a feed only with 200 OK. Find out why the server responds differently.")
	}
	return false
}

// redirects reports each redirect and chains of redirects.
func (x *exam) redirects() {
	hops := x.first.hops
	for _, h := range hops {
		x.redirect(h)
	}
	if len(hops) > 1 {
		x.add(SubjectFeed, "redirect-chain", Warning, fmt.Sprintf("There are %d redirects in a row, so each check takes %d requests.", len(hops), len(hops)+1),
			"Let each old URL redirect directly to the last one: "+x.first.url)
	}
}

func (x *exam) redirect(h hop) {
	from, to := hostOf(h.from), hostOf(h.to)
	text := fmt.Sprintf("%s redirects to %s", h.from, h.to)
	fix := "Use the new URL everywhere: in rel=self of the feed, on the page, in pings."
	level := Note
	switch h.status {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		text += fmt.Sprintf(" permanently (%d).", h.status)
	case 0:
		text += "."
	default:
		text += fmt.Sprintf(" temporarily (%d). Subscribers keep the old URL and need two requests each time.", h.status)
		fix = "If the move is permanent, return 301 or 308."
	}
	switch secure, was := strings.HasPrefix(h.to, "https:"), strings.HasPrefix(h.from, "https:"); {
	case was && !secure:
		level = Warning
		text += " It changes from https to http, which some readers do not follow."
		fix = "Redirect to an https URL."
	case !was && secure:
		text += " It changes from http to https."
	}
	if from != to {
		text += " The host changes too. rssCloud hubs know a feed by its exact URL, so pings must use the URL of the subscribers."
	}
	x.add(SubjectFeed, "redirect", level, text, fix)
}

// parse parses the document twice: in the way of readers, and with relative references as written.
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

// choose selects the best feed of a page.
func (x *exam) choose(feeds []discover.Link) bool {
	sure := slices.DeleteFunc(slices.Clone(feeds), func(l discover.Link) bool {
		return l.Guess || rsscloud.CheckFeedURL(l.URL) != nil
	})
	if len(sure) == 0 {
		x.add(SubjectFeed, "feed-found", Problem, fmt.Sprintf("%s is a page that names no feed.", x.first.url),
			"Examine the feed itself (cloudburst discover can find it), or name the feed in the head of the page:\n"+alternate("application/rss+xml", "https://example.org/rss.xml"))
		return false
	}
	text := fmt.Sprintf("%s is a page. It names one feed, examined below: %s", x.first.url, sure[0].URL)
	if n := len(sure); n > 1 {
		text = fmt.Sprintf("%s is a page. It names %d feeds; the first is examined below: %s", x.first.url, n, sure[0].URL)
	}
	x.add(SubjectFeed, "feed-found", OK, text, "")
	x.feed = sure[0].URL
	return true
}

// served checks the size and duration of the response.
func (x *exam) served() {
	a := &x.first
	came := text.SizeWords(int64(len(a.body)))
	if a.coded && a.wire > 0 {
		came += ", " + text.SizeWords(a.wire) + " compressed"
	}
	x.add(SubjectFeed, "feed-read", OK, fmt.Sprintf("%s returns 200 OK (%s).", a.url, came), "")
	switch {
	case a.took >= lateAnswer:
		x.add(SubjectFeed, "feed-time", Warning, fmt.Sprintf("The response took %s. Hubs have a time limit, often 10 to 30 seconds.", span(a.took)), "Let the server cache the feed instead of generating it for each request.")
	case a.took >= slowAnswer:
		x.add(SubjectFeed, "feed-time", Note, fmt.Sprintf("The response took %s.", span(a.took)), "Let the server cache the feed instead of generating it for each request.")
	default:
		x.add(SubjectFeed, "feed-time", OK, "The response is fast.", "")
	}
	const fix = "Keep the newest 20 to 50 items in the feed, and older ones in further pages or an archive."
	switch n := int64(len(a.body)); {
	case !a.whole:
		x.add(SubjectFeed, "feed-size", Problem, fmt.Sprintf("It is larger than %s, the limit of hubs and readers.", text.SizeWords(maxBody)), fix)
	case n > hubsLimit:
		x.add(SubjectFeed, "feed-size", Warning, fmt.Sprintf("It has %s. WebSub hubs usually deliver no more than %s.", text.SizeWords(n), text.SizeWords(hubsLimit)), fix)
	}
	if strings.HasPrefix(a.url, "http:") && !isLocal(hostOf(a.url)) {
		x.add(SubjectFeed, "feed-insecure", Note, "It uses http, so others in the network can read and change it.", "Serve it over https too, and redirect the old URL when the hubs know the new one.")
	}
}

// format checks the format of the feed and its declarations.
func (x *exam) format() {
	f := x.doc
	name := formatName(f)
	x.add(SubjectFeed, "feed-format", OK, fmt.Sprintf("It is %s: %s, %s.", name, quote(f.Title.Value), text.Plural(len(f.Items), "item")), "")
	if f.Moved != nil && f.Moved.Gone {
		x.add(SubjectFeed, "feed-moved", Problem, "The feed declares that it is gone.", "Remove that element if it is wrong.")
	} else if f.Moved != nil && !sameURL(f.Moved.To, x.first.url) {
		x.add(SubjectFeed, "feed-moved", Warning, "The feed declares that it has moved to "+short(f.Moved.To, 300)+".", "Examine that URL, and redirect the old one to it with status 301.")
	}
	d := &advice.Delivery{Document: x.first.body, URL: x.first.url, Header: x.first.header, Compressed: x.first.coded, Now: x.d.now()}
	found := advice.On(x.raw, d)
	x.mediaType(found)
	if slices.ContainsFunc(found, func(a advice.Finding) bool { return a.Rule == "http-compression" }) {
		x.add(SubjectFeed, "feed-compression", Note, "It is not compressed, although the request allows it, so it needs several times the bytes.", "Let the server compress feeds with gzip.")
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
		x.add(SubjectFeed, "feed-type", OK, fmt.Sprintf("Its Content-Type, %s, is correct.", given), "")
	}
}

// problems summarises the parser's repairs. The command validate prints the details.
func (x *exam) problems(found []advice.Finding) {
	worst, n := 0, 0
	var kinds []string
	for _, p := range x.doc.Problems {
		if p.Kind == feed.ProblemType {
			continue // another check has already reported this problem
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
	see := "For details:\ncloudburst validate " + shellWord(x.first.url)
	switch {
	case worst > 0:
		words := fmt.Sprintf("Some readers reject it or lose items (%s).", text.Plural(worst, "error"))
		if n > 0 {
			words = fmt.Sprintf("Some readers reject it or lose items (%s; %s: %s).", text.Plural(worst, "error"), text.Plural(n, "place")+" needed a repair", strings.Join(kinds, ", "))
		}
		x.add(SubjectFeed, "feed-valid", Warning, words, see)
	case n > 0:
		x.add(SubjectFeed, "feed-valid", Note, fmt.Sprintf("%s needed a repair (%s).", text.Plural(n, "place"), strings.Join(kinds, ", ")), see)
	default:
		x.add(SubjectFeed, "feed-valid", OK, "It needs no repair.", "")
	}
}

// shellWord quotes s as one word of a shell.
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

// mediaTypeOf returns the media type for the format of f.
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
