package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/date"
	"cloudburst/protocol/rsscloud"
)

// HTTPClient sends requests; *http.Client implements it. It should not follow redirects,
// because the examination reports each one.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Doctor examines feeds. The zero value works.
type Doctor struct {
	HTTP      HTTPClient // nil: a client that uses the network directly
	UserAgent string
	Now       func() time.Time // nil: time.Now
	// Plain converts a network error to plain words; nil: the error itself.
	Plain func(error) error

	// Hub is the URL of the hub that the feed should name. It gets the ping instead of the
	// hubs in the feed, and the suggested elements contain it.
	Hub    string
	NoPing bool

	// Watch is the time to wait for a change at the end; 0: do not wait.
	Watch time.Duration
	// Callback is the host, or host:port, at which the feed's hub can reach this machine.
	// Without it, the watch subscribes only to hubs on this machine.
	Callback string
	// Listen opens the listener of the callback; nil: a TCP socket.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// Limits of one examination.
const (
	maxBody     = 5 << 20 // maximum size of a document in bytes
	maxPage     = 1 << 20 // maximum size of the home page in bytes
	maxAnswer   = 64 << 10
	maxHops     = 5
	maxClouds   = 2
	maxHubs     = 3
	maxRequests = 24 // maximum number of requests, without the requests of a watch
	askTime     = 20 * time.Second
	hubsLimit   = 1 << 20 // usual size limit of WebSub hubs
	slowAnswer  = 2500 * time.Millisecond
	lateAnswer  = 10 * time.Second
)

// ErrURL means that the argument is not a URL that can be fetched.
var ErrURL = errors.New("doctor: not a URL that can be fetched")

// exam is the state of one examination.
type exam struct {
	d        *Doctor
	report   func(Check)
	result   Report
	requests int // number of requests sent so far

	feed          string // URL of the feed, as its subscribers know it
	first, second answer // two responses, compressed if the server supports it
	plain         answer // a third response, without compression
	doc           *feed.Feed
	raw           *feed.Feed // the parsed feed, with relative references as written
	links         links
	clouds        []cloudAt
	pages         []string // URLs of hubs that return a page
	unstable      bool     // the bytes differ in each response although the feed is unchanged
}

// Examine checks the feed at url, or the best feed of the page at url. It calls report with each
// finding as soon as the finding exists; report may be nil. Examine returns [ErrURL] or the error of
// the context; all other failures are findings.
func (d *Doctor) Examine(ctx context.Context, url string, report func(Check)) (Report, error) {
	if err := rsscloud.CheckFeedURL(url); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrURL, err)
	}
	x := &exam{d: d, report: report, feed: url, result: Report{Feed: url, Checks: []Check{}}}
	for _, step := range []func(context.Context) bool{
		x.read, x.again, x.items, x.caching, x.rssCloud, x.webSub, x.page, x.ping, x.watch,
	} {
		more := step(ctx)
		if err := ctx.Err(); err != nil {
			return x.result, err
		}
		if !more {
			break
		}
	}
	return x.result, nil
}

func (d *Doctor) now() time.Time {
	return date.Now(d.Now)
}

// plain converts a network error to plain words.
func (d *Doctor) plain(err error) error {
	if d.Plain != nil {
		return d.Plain(err)
	}
	return err
}

func (d *Doctor) words(err error) string { return d.plain(err).Error() }
