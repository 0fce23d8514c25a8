package hubcli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
)

// cnwsWay subscribes with the CNWS protocol.
type cnwsWay struct {
	l        *listener
	client   cnws.Client
	endpoint string
}

func newCNWSWay(l *listener) *cnwsWay {
	return &cnwsWay{l, cnws.Client{HTTP: l.p.HTTP, UserAgent: l.p.UserAgent()}, cnwsEndpoint(l.hub)}
}

// cnwsEndpoint appends the usual path of the endpoint to the URL of a hub without a path.
func cnwsEndpoint(hub string) string {
	u, err := url.Parse(hub)
	if err != nil || u.Path != "" && u.Path != "/" {
		return hub
	}
	u.Path = "/cnws"
	return u.String()
}

func (w *cnwsWay) handler() http.Handler { return &cnws.Handler{Subscriber: w} }

// Changed receives a notification. For an unknown subscription it returns false, and then the hub
// drops the subscription.
//
// spec:cnws-2003#unsubscribe-by-false
func (w *cnwsWay) Changed(ctx context.Context, c cnws.Change) (bool, error) {
	l, now := w.l, time.Now()
	var received time.Time // time when the hub received the change; zero: unknown
	if r := cnws.RequestFrom(ctx); r != nil {
		received = parseChangedAt(r.Header.Get(rsscloud.ChangedAtHeader))
	}
	l.mu.Lock()
	f := l.feeds[c.ResourceID]
	test := f != nil && f.asks && received.IsZero()
	if f != nil && !test {
		// spec:cnws-2003#confirm-after-30-days
		f.due = now.Round(0).Add(cnws.MaxSilence)
	}
	l.mu.Unlock()
	if f == nil {
		return false, nil
	}
	l.take(notice{feed: c.ResourceID, at: now, test: test, news: changeRecord(c, now, received)})
	return true, nil
}

// changeRecord returns the record of a notification from its content, without reading the feed.
func changeRecord(c cnws.Change, now, received time.Time) *record {
	r := &record{At: now, Event: "changed", Feed: c.ResourceID}
	switch {
	case !received.IsZero():
		r.measure(now, received, "ping")
	case !c.ChangeTime.IsZero():
		r.measure(now, c.ChangeTime, "change_time")
	}
	r.Title, r.Text = shell.Clean(c.Title), shell.Clip(shell.Clean(c.Description), 500)
	if r.item = shell.Clip(r.Title, 100); r.item == "" {
		r.item = shell.Clip(r.Text, 200)
	} else {
		r.more = shell.Clip(r.Text, 200)
	}
	return r
}

func (w *cnwsWay) register(ctx context.Context, f *followed) (registered, error) {
	l := w.l
	callback, err := l.address(ctx, w.endpoint, l.path)
	if err != nil {
		return registered{}, err
	}
	l.mu.Lock()
	f.asks = true
	l.mu.Unlock()
	res, err := w.client.Subscribe(ctx, w.endpoint, cnws.Subscribe{ResourceID: f.url, NotificationURL: callback})
	l.mu.Lock()
	f.asks = false
	l.mu.Unlock()
	switch {
	case err != nil:
		return registered{}, w.describe(err)
	case !res.Status && res.Description != "":
		return registered{}, hubclient.Refusedf("the hub at %s refuses %s: %s", w.endpoint, f.url, res.Description)
	case !res.Status:
		return registered{}, hubclient.Refusedf("the hub at %s refuses %s without a reason", w.endpoint, f.url)
	}
	msg := "at " + w.endpoint
	if res.Title != "" {
		msg += ": " + shell.Clip(res.Title, 100)
	}
	return registered{hub: w.endpoint, msg: msg, again: cnws.MaxSilence}, nil
}

// describe returns an error that explains a failed call to the hub.
func (w *cnwsWay) describe(err error) error {
	if e, ok := errors.AsType[*cnws.Error](err); ok {
		return hubclient.Rejected(w.endpoint, e.Status, e.Msg, e.RetryAfter)
	}
	if errors.Is(err, cnws.ErrUnreachable) {
		return hubclient.Unreachable(w.endpoint, err)
	}
	if errors.Is(err, cnws.ErrInvalidResponse) {
		return hubclient.Refusedf("invalid CNWS response from %s: --hub must be the hub, such as http://localhost:5337, or its CNWS endpoint", w.endpoint)
	}
	return err
}

func (w *cnwsWay) cancel(_ context.Context, f *followed) record {
	return record{Event: "stopped", Feed: f.url, Hub: w.endpoint,
		Message: "CNWS has no call to cancel: the hub drops the subscription when the next notifications fail"}
}
