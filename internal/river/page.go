package river

import (
	"context"
	"errors"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/discover"
	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/location"
	"cloudburst/internal/river/naming"
)

const (
	maxChoices = 50 // maximum number of feeds of a page in Added.Choices
	maxFirst   = 3  // maximum number of choices that are tried with Request.First
	maxGuesses = 4  // maximum number of links that are tried because their URLs look like feeds
	maxKnown   = 6  // maximum number of common feed URLs that are tried
	probing    = 45 * time.Second
)

// fromPage finds and follows the feed of a document that is not a feed itself.
func (a *addition) fromPage(ctx context.Context, s Source, got fetchResult) (Added, error) {
	if feed, page, ok := location.Account(s.URL, got.res.Body); ok {
		return a.fromAccount(ctx, s.URL, feed, page)
	}
	page := discover.HTML(got.res.Body, got.res.URL, got.res.Header)
	where := location.Brief(s.URL)
	var not *feed.NotFeedError
	switch {
	case page.Format == discover.OPML || errors.As(got.parse().err, &not) && not.Looks == "opml":
		return Added{}, fault.New(fault.Invalid, "%s is a list of feeds (OPML): import it.", where)
	case page.Format != "":
		return Added{}, fault.Wrap(fault.Unreadable, got.parse().err, "%s looks like a feed and cannot be read as one.", where)
	case not != nil && not.Looks == "empty" && len(page.Links) == 0:
		return Added{}, fault.New(fault.Unreadable, "%s is empty: there is neither a feed nor a page.", where)
	case not != nil && not.Looks != "html" && not.Looks != "xml" && not.Looks != "text" && len(page.Links) == 0:
		return Added{}, fault.New(fault.Unreadable, "%s is neither a feed nor a page: %s.", where, strings.TrimPrefix(not.Error(), "feed: "))
	}
	sure, guesses := a.choices(&page, s.URL)
	sure = location.MergeFormats(sure)
	main := 0
	for _, c := range sure {
		if c.Kind == string(discover.Main) {
			main++
		}
	}
	switch {
	case main == 1 || main > 1 && a.Options.Own != nil && a.Options.Own(got.res.URL):
		return a.followOnly(ctx, sure[0].URL, where) // a page of this server links to its own feed first, so sure[0] is the right feed
	case a.q.First && len(sure) > 0:
		return a.followFirst(ctx, sure, where)
	case len(sure) > 0:
		return Added{Choices: sure}, nil
	}
	return a.probe(ctx, guesses, got.res.URL, where)
}

// fromAccount follows the feed of an account, or the feed that the account's page links to.
func (a *addition) fromAccount(ctx context.Context, query, feed, page string) (done Added, err error) {
	if feed != "" {
		if done, err = a.followOnly(ctx, a.canonical(feed), location.Brief(query)); err == nil || page == "" {
			return done, err
		}
	}
	return a.fetchNew(ctx, a.canonical(page))
}

// choices returns the feeds that a page links to, feeds of its posts first. guesses are links
// whose URLs only look like feeds. own is the URL of the page.
func (a *addition) choices(page *discover.Result, own string) (sure []Choice, guesses []string) {
	seen := map[string]bool{own: true}
	for _, l := range page.Links {
		u, err := fetch.Normal(l.URL)
		u = a.canonical(u)
		if err != nil || seen[u] || l.Kind == discover.Outline {
			continue
		}
		seen[u] = true
		if l.Guess {
			guesses = append(guesses, u)
			continue
		}
		if len(sure) < maxChoices {
			sure = append(sure, Choice{URL: u, Title: naming.TitleOf(l.Title), Format: formatName(l.Format), Kind: string(l.Kind)})
		}
	}
	return sure, guesses
}

func formatName(f discover.Format) string {
	switch f {
	case discover.RSS, discover.RDF:
		return "RSS"
	case discover.Atom:
		return "Atom"
	case discover.JSON:
		return "JSON Feed"
	case discover.CDF:
		return "CDF"
	case discover.ScriptingNews:
		return "scriptingNews"
	}
	return ""
}

// followOnly follows the feed at url, which page links to as its feed.
func (a *addition) followOnly(ctx context.Context, url, page string) (Added, error) {
	done, ok, err := a.feedAt(ctx, url, polling.ByHand)
	if !ok && err == nil {
		err = fault.New(fault.Unreadable, "The page %s links to %s as its feed, but that is not a feed.", page, location.Brief(url))
	}
	return done, err
}

// followFirst tries the first maxFirst choices and follows the first one that is a feed.
func (a *addition) followFirst(ctx context.Context, list []Choice, page string) (Added, error) {
	var first error
	for _, c := range list[:min(len(list), maxFirst)] {
		done, err := a.followOnly(ctx, c.URL, page)
		if err == nil || ctx.Err() != nil || isLocalFailure(err) {
			return done, err
		}
		if first == nil {
			first = err
		}
	}
	return Added{}, first
}

// isLocalFailure reports whether other URLs would fail for the same reason, because the failure
// is on this server.
func isLocalFailure(err error) bool {
	switch fault.CodeOf(err) {
	case fault.Internal, fault.Unavailable, fault.Conflict:
		return true
	case fault.TooMany:
		return fault.RetryAfter(err) == 0 // without RetryAfter, the cause is a limit of this server and not a busy feed server
	}
	return false
}

// probe fetches the links that look like feeds, and then the common feed URLs. It fetches one URL
// after another at the host's pace, and follows the first feed that it finds.
func (a *addition) probe(ctx context.Context, guesses []string, from, page string) (Added, error) {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	list := guesses[:min(len(guesses), maxGuesses)]
	usual := discover.WellKnown(from)
	list = append(list[:len(list):len(list)], usual[:min(len(usual), maxKnown)]...)
	seen := map[string]bool{}
	for _, u := range list {
		u, err := fetch.Normal(u)
		u = a.canonical(u)
		if err != nil || seen[u] {
			continue
		}
		seen[u] = true
		done, ok, err := a.feedAt(ctx, u, polling.Poll)
		switch {
		case ok:
			return done, nil
		case err != nil && (isLocalFailure(err) || fault.CodeOf(err) == fault.TooMany):
			return Added{}, err
		case ctx.Err() != nil:
			return Added{}, fault.New(fault.NotFound, "The page %s names no feed, and its server is too slow to look for one.", page)
		}
	}
	return Added{}, fault.New(fault.NotFound, "The page %s names no feed, and there is none at the usual addresses.", page)
}

// feedAt follows the feed at url. ok is false if url is not a feed.
func (a *addition) feedAt(ctx context.Context, url string, cause polling.Cause) (done Added, ok bool, err error) {
	if done, ok, err = a.followKnown(ctx, url); ok || err != nil {
		return done, err == nil, err
	}
	s := a.newSource(url)
	got := checker{a.River}.fetchPaced(ctx, &s, cause)
	if err := responseError(&s, got); err != nil {
		return Added{}, false, err
	}
	if d := got.parse(); d.err != nil || d.feed.Format == feed.Redirect { // reject a redirect document without a usable target
		return Added{}, false, nil
	}
	done, err = a.followNew(ctx, s, got)
	return done, err == nil, err
}
