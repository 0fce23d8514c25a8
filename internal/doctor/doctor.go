package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"cloudburst/feed"
	"cloudburst/protocol/rsscloud"
)

// HTTPClient sends requests; *http.Client is one. It should not follow redirects:
// each is looked at.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Doctor examines feeds. The zero value works.
type Doctor struct {
	HTTP      HTTPClient // nil: the network
	UserAgent string
	Now       func() time.Time // nil: time.Now
	// Plain turns an error of the network into words; nil: its own.
	Plain func(error) error

	// Hub is the URL of the hub that the feed should name. It is told of the feed
	// instead of the feed's own hubs, and what there is to copy names it.
	Hub    string
	NoPing bool

	// Watch is for how long to wait for a change at the end; 0: not at all.
	Watch time.Duration
	// Callback is the host, or host:port, by which the feed's hub can reach this
	// machine. Without it, only a hub on this very machine is asked to tell.
	Callback string
	// Listen opens the callback; nil: a socket.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// Limits of one examination.
const (
	maxBody    = 5 << 20 // bytes of a document
	maxPage    = 1 << 20 // of the page
	maxAnswer  = 64 << 10
	maxHops    = 5
	maxClouds  = 2
	maxHubs    = 3
	maxAsked   = 24 // requests, without those of a watch
	askTime    = 20 * time.Second
	hubsLimit  = 1 << 20 // what WebSub hubs usually deliver
	slowAnswer = 2500 * time.Millisecond
	lateAnswer = 10 * time.Second
)

// ErrURL means that an address is none that can be asked.
var ErrURL = errors.New("doctor: not a URL that can be fetched")

// exam is one examination: what was found so far.
type exam struct {
	d      *Doctor
	tell   func(Check)
	report Report
	asked  int // requests

	feed          string // the address of the feed, as its subscribers know it
	first, second answer // two readings, compressed where the server does that
	plain         answer // a third, not compressed
	doc           *feed.Feed
	raw           *feed.Feed // with references as they are written
	links         links
	clouds        []cloudAt
	pages         []string // hubs where a page is
	restless      bool     // its bytes are others each time
}

// Examine looks at the feed at url, or at the best one of the page at url. tell, which
// may be nil, is called for each finding as soon as it is there. The error is [ErrURL]
// or that of the context; whatever else goes wrong is a finding.
func (d *Doctor) Examine(ctx context.Context, url string, tell func(Check)) (Report, error) {
	if err := rsscloud.CheckFeedURL(url); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrURL, err)
	}
	x := &exam{d: d, tell: tell, feed: url, report: Report{Feed: url, Checks: []Check{}}}
	for _, step := range []func(context.Context) bool{
		x.read, x.again, x.items, x.caching, x.rssCloud, x.webSub, x.page, x.ping, x.watch,
	} {
		more := step(ctx)
		if err := ctx.Err(); err != nil {
			return x.report, err
		}
		if !more {
			break
		}
	}
	return x.report, nil
}

func (d *Doctor) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

// plain is an error of the network in words.
func (d *Doctor) plain(err error) error {
	if d.Plain != nil {
		return d.Plain(err)
	}
	return err
}

func (d *Doctor) words(err error) string { return d.plain(err).Error() }
