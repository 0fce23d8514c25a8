package river

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/lease"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/text"
)

// acceptFeeds is the Accept header of feed checks. It makes a server that offers a page in
// several forms send the feed.
const acceptFeeds = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"

const (
	maxReason = 160    // maximum number of characters of a server's own explanation of a refusal
	maxParsed = 20_000 // maximum number of items of one document that are parsed
	minTaken  = 1000   // number of items per document that are always stored, even if Options.Keep is lower
)

// fetchResult is the result of fetching a document.
type fetchResult struct {
	at       time.Time            // when the request was sent
	took     time.Duration        // time until the whole response was read
	cause    polling.Cause        // why the source is checked
	asked    polling.CheckRequest // whether the request was conditional or in full, and the reason
	res      *fetch.Response      // the response; nil: there is no response
	err      error                // why there is no response; nil if there is one
	hops     []polling.Hop        // redirects before the response, including redirect documents
	parsed   *document            // the body as a feed; nil until parse is called
	sum      string               // the hash of the body; "" until hash is called
	maxItems int                  // maximum number of items to store; 0: minTaken
	trace    fetch.Trace
}

// maxItemsTaken returns the maximum number of items of one document that are stored.
func (o *Options) maxItemsTaken() int { return min(max(o.Keep, minTaken), maxParsed) }

// document is a parsed body. err is a *feed.NotFeedError if the body is not a feed.
type document struct {
	feed *feed.Feed
	err  error
}

// fetchPaced fetches the document of a source by the polite fetching rules. It waits for the pace
// of the host, unless cause is Pushed or ByHand. It sends the validators and the Login of the
// source, and follows redirects and redirect documents. Either res or err of the result is set.
// The source may be stored or not.
func (r checker) fetchPaced(ctx context.Context, s *Source, cause polling.Cause) fetchResult {
	r.Init()
	host := polling.HostOf(s.State.URL)
	if own := r.Options.Own; own != nil && own(s.State.URL) {
		return r.fetchNow(ctx, s, cause)
	}
	if wait := r.scheduler.reserve(host, r.now(), cause == polling.Pushed || cause == polling.ByHand); wait > 0 && !lease.Sleep(ctx, nil, wait) {
		return fetchResult{at: r.now(), cause: cause, err: contextError(ctx, s)}
	}
	return r.fetchNow(ctx, s, cause)
}

// fetchNow is like fetchPaced, but does not wait for the host. It stops after two thirds of a
// lease, which leaves time to store the result.
func (r checker) fetchNow(ctx context.Context, s *Source, cause polling.Cause) (got fetchResult) {
	ctx, cancel := context.WithTimeout(ctx, r.options().Lease*2/3)
	defer cancel()
	o := r.options()
	now := r.now()
	announced := s.PushedAt
	if announced.IsZero() {
		announced = now
	}
	got = fetchResult{at: now, cause: cause, asked: polling.RequestFor(s.State, cause, announced, now), maxItems: o.maxItemsTaken()}
	start := time.Now()
	defer func() { got.took = time.Since(start) }()
	q := fetch.Request{
		URL: s.State.URL, ETag: got.asked.Validators.ETag, LastModified: got.asked.Validators.LastModified,
		ValidatorsURL: cmp.Or(got.asked.Validators.URL, s.State.URL), Revalidate: got.asked.Revalidate, Accept: acceptFeeds, Trace: &got.trace,
	}
	if r.Agent != nil {
		// spec:feedstate-2007#user-agent
		q.UserAgent = r.Agent(max(s.Readers, 1))
	}
	known, err := r.loginFor(s)
	if err != nil {
		got.err = &fetch.Error{Kind: fetch.Ours, URL: fetch.Redact(s.State.URL), Text: "cannot be requested with its stored login", Err: err}
		return got
	}
	login := location.Session{Login: known}
	for {
		q.Private = nil
		if login.Kind != "" && sameOrigin(q.URL, s.State.URL) {
			q.Private = login.Header(r.now())
		}
		got.res, got.err = r.Fetch.Get(ctx, q)
		got.parsed, got.sum = nil, ""
		if got.err != nil {
			return got
		}
		for _, h := range got.res.Redirects {
			got.hops = append(got.hops, polling.Hop{Status: h.Status, From: h.From, To: h.To})
		}
		next, ok := got.nextRequest(s, &q)
		if !ok && q.Private != nil && login.Retry(got.res, r.now()) {
			next, ok = q.URL, true
		}
		if !ok {
			return got
		}
		if wait := r.scheduler.reserve(polling.HostOf(next), r.now(), false); wait > 0 && !lease.Sleep(ctx, nil, wait) {
			got.res, got.err = nil, contextError(ctx, s)
			return got
		}
		q.URL = next
	}
}

// contextError returns the error of a check whose ctx ended before its next request.
func contextError(ctx context.Context, s *Source) error {
	return &fetch.Error{Kind: fetch.Ours, URL: fetch.Redact(s.State.URL), Text: fetch.Neutral, Err: ctx.Err()}
}

// nextRequest returns the URL of a further request in the same check: the target of a redirect
// document, or the same URL without validators if a 304 may belong to another document. ok is
// false if no further request is needed.
//
// spec:feedstate-2007#redirect-xml
func (a *fetchResult) nextRequest(s *Source, q *fetch.Request) (url string, ok bool) {
	if a.res.Status == http.StatusNotModified {
		if a.asked.Full() || a.cause == polling.Poll && a.res.URL == a.asked.Validators.URL {
			return "", false
		}
		if _, d := polling.Next(s.State, a.toAnswer(s), a.at, polling.Options{}); d.Outcome != polling.Doubtful {
			return "", false
		}
		a.asked.Validators, a.asked.Why = polling.Validators{}, "its server answered 304 about another document"
		q.ETag, q.LastModified, a.hops = "", "", nil
		return s.State.URL, true
	}
	answer := a.toAnswer(s)
	hop, ok := answer.Follow(s.State)
	if !ok {
		hop, ok = a.metaRefresh()
	}
	if ok {
		a.hops = append(a.hops, hop)
	}
	return hop.To, ok
}

// metaRefresh handles a server that sends an HTML page instead of a feed. If the page redirects
// by <meta http-equiv="refresh">, metaRefresh returns the redirect, which counts as temporary. It
// does not follow a page that links to feeds.
func (a *fetchResult) metaRefresh() (polling.Hop, bool) {
	if !a.res.OK() || len(a.hops) >= polling.MaxRedirects || a.parsed == nil {
		return polling.Hop{}, false
	}
	if not, ok := errors.AsType[*feed.NotFeedError](a.parsed.err); !ok || not.Looks != "html" {
		return polling.Hop{}, false
	}
	page := discover.HTML(a.res.Body, a.res.URL, a.res.Header)
	to, err := fetch.Normal(page.Refresh)
	if page.Refresh == "" || err != nil || page.Sure() || to == a.res.URL {
		return polling.Hop{}, false
	}
	return polling.Hop{Status: http.StatusFound, From: a.res.URL, To: to, Document: true}, true
}

// loginFor returns the login for the source's server, in clear text. The login is empty if the
// source moved to another host or from https to http.
func (r checker) loginFor(s *Source) (Login, error) {
	if s.Login.Kind == "" || !s.maySendLogin() {
		return Login{}, nil
	}
	return location.Unseal(r.Key, s.Login)
}

func (s *Source) maySendLogin() bool {
	was, err := url.Parse(s.originalURL())
	if err != nil {
		return false
	}
	is, err := url.Parse(s.State.URL)
	return err == nil && strings.EqualFold(was.Hostname(), is.Hostname()) && (was.Scheme == is.Scheme || is.Scheme == "https")
}

// originalURL returns the first URL of the source. Hubs identify the subscription by this URL.
func (s *Source) originalURL() string {
	if len(s.State.Moves) > 0 && (s.Private() || SourceID(s.State.Moves[0].From) == s.ID) {
		return s.State.Moves[0].From
	}
	return s.State.URL
}

func sameOrigin(a, b string) bool {
	if a == b {
		return true
	}
	u, err := url.Parse(a)
	if err != nil {
		return false
	}
	v, err := url.Parse(b)
	return err == nil && u.Scheme == v.Scheme && strings.EqualFold(u.Host, v.Host)
}

// parse parses the response body as a feed. Later calls return the same result.
func (a *fetchResult) parse() *document {
	if a.parsed == nil {
		d := document{err: errors.New("river: there is no answer to read")}
		if a.res != nil {
			d.feed, d.err = feed.ParseBytes(a.res.Body, &feed.Options{URL: a.res.URL, Header: a.res.Header, Limits: feed.Limits{Items: maxParsed}})
			if d.err == nil {
				item.KeepNewest(d.feed, max(a.maxItems, minTaken))
			}
		}
		a.parsed = &d
	}
	return a.parsed
}

// hash returns the hash of the body of the response, or "" if the body is empty.
func (a *fetchResult) hash() string {
	if a.sum == "" && len(a.res.Body) > 0 {
		sum := sha256.Sum256(a.res.Body)
		a.sum = base64.RawStdEncoding.EncodeToString(sum[:18])
	}
	return a.sum
}

// toAnswer converts the result for package polling. It does not parse a body that equals the last
// body.
//
// spec:cloudburst#river-same-body
func (a *fetchResult) toAnswer(s *Source) polling.Answer {
	out := polling.Answer{Cause: a.cause, Full: a.asked.Full(), Hops: a.hops}
	if a.res == nil {
		out.Error, out.Detail = errorKind(a.err)
		return out
	}
	out.Status, out.Header, out.URL = a.res.Status, a.res.Header, a.res.URL
	if !a.res.OK() {
		out.Detail = refusalText(a.res)
		return out
	}
	if out.Hash = a.hash(); out.Same(s.State) {
		return out
	}
	d := a.parse()
	out.Read(d.feed, d.err)
	return out
}

// errorKind returns the kind of a failure for package polling, and a clause that describes the
// failure to users.
func errorKind(err error) (polling.ErrorKind, string) {
	switch fetch.KindOf(err) {
	case fetch.BadURL:
		return polling.ErrBadURL, "its address " + strings.TrimSuffix(fetch.Text(err), ".")
	case fetch.Refused:
		if e, ok := errors.AsType[fetch.NotAllowedError](err); ok && e.Setting != "" {
			return polling.ErrRefused, "its address is not public, and " + e.Setting + " does not list it"
		}
		return polling.ErrRefused, ""
	case fetch.TimedOut:
		return polling.ErrTimeout, ""
	case fetch.TLS:
		return polling.ErrTLS, ""
	case fetch.Malformed:
		return polling.ErrMalformed, ""
	case fetch.TooLarge:
		// spec:cloudburst#river-five-mebibytes
		return polling.ErrTooLarge, "its server " + strings.TrimSuffix(fetch.Text(err), ".") + ", which is more than is read"
	case fetch.TooManyRedirects:
		return polling.ErrRedirects, ""
	case fetch.Ours:
		text := fetch.Text(err)
		if text == fetch.Neutral {
			text = ""
		}
		return polling.ErrLocal, text
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return polling.ErrDNS, ""
	}
	return polling.ErrUnreachable, ""
}

// refusalText returns a server's own explanation of a refusal: the start of a short text body.
//
// spec:cloudburst#river-rejections-shown
func refusalText(res *fetch.Response) string {
	kind := strings.ToLower(res.Header.Get("Content-Type"))
	if res.Status < 400 || len(res.Body) == 0 || len(res.Body) > 64<<10 || !strings.HasPrefix(kind, "text/") {
		return ""
	}
	page := string(res.Body)
	if strings.HasPrefix(kind, "text/html") {
		page = sanitize.PageText(page)
	}
	return text.ClipRunes(strings.TrimSuffix(text.PlainLine(page), "."), maxReason)
}
