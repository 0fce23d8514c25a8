package river

import (
	"context"
	"net/http"

	"cloudburst/feedstate"
	"cloudburst/internal/fault"
)

// state is what a river has in memory.
type state struct {
	listing
}

func later() error { return fault.New(fault.Unsupported, "Not yet.") }

// Init makes the river ready; every method does it.
func (r *River) Init() {}

// Run reads what is due, reading lists and notices too, until ctx ends, and returns
// when what is under way is over or given back.
func (r *River) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Wake tells the river that rows may be due, and that others may have written items.
func (r *River) Wake() {}

// Heard takes the news that a feed changed, by door ("ping", "notify-rsscloud",
// "save" …). When it returns, the source is due on disk, and it will be read at once.
// known is false when nobody here follows the feed.
func (r *River) Heard(ctx context.Context, url, door string) (known bool, err error) {
	return false, later()
}

// Deliver takes a document that a hub brought and signed. When it returns nil, its items
// are on disk; what is no usable feed counts as Heard.
func (r *River) Deliver(ctx context.Context, url, door string, body []byte, header http.Header) (known bool, err error) {
	return false, later()
}

// Refresh reads a source now because a reader wants it. Errors: fault.NotFound; TooMany,
// with RetryAfter and the reason, when it was read less than a minute ago or its server
// asked to be left alone; Conflict when it is being read already.
func (r *River) Refresh(ctx context.Context, id int64) (Check, error) { return Check{}, later() }

// Explanation says why a source is checked when it is.
type Explanation struct {
	Source   Source
	Sentence string             // "next check 14:20: max-age 12 h seen 02:20; ttl 60 and skipHours considered"
	Decision feedstate.Decision // everything that was considered
	Checks   []Check            // the last 20, newest first
	Push     []PushState
	Trust    string   // how trustworthy the hubs are, in a sentence; "": there are none
	Notes    []string // what a reader should know: moved, gone, broken, insecure, truncated …
}

// Explain explains. fault.NotFound.
func (r *River) Explain(ctx context.Context, id int64) (Explanation, error) {
	return Explanation{}, later()
}

// Known is what the river knows of a feed's hubs, so that nobody reads the feed again
// for it; false: nothing.
func (r *River) Known(ctx context.Context, feed string) (topic string, doors []Door, ok bool, err error) {
	return "", nil, false, nil
}

// Listener hears of arrivals.
type Listener struct{}

// C gives arrivals; it is closed when the listener was too slow, or closed itself.
func (l *Listener) C() <-chan Arrival { return nil }

// Close ends listening.
func (l *Listener) Close() {}

// Listen hears of what arrives from now on, for all readers. Who is too slow is dropped.
func (r *River) Listen(buffer int) *Listener { return &Listener{} }

// Live is what the river does at the moment, and since its start.
type Live struct {
	Reading, Waiting                     int   // documents
	Checks, Unchanged, Failed, Delivered int64 // since the start
	New, Edited, Withdrawn               int64 // items
	Listening                            int   // live listeners
}

// Live is what is going on.
func (r *River) Live() Live { return Live{} }
