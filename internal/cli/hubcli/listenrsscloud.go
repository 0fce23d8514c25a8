package hubcli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/protocol/rsscloud"
)

// listenProcedure is the procedure that hubs call over XML-RPC and SOAP.
const listenProcedure = "rssCloud.notify"

// cloudWay subscribes with the rssCloud protocol.
type cloudWay struct {
	l      *listener
	client rsscloud.Client
}

func newCloudWay(l *listener) *cloudWay {
	return &cloudWay{l, rsscloud.Client{HTTP: l.p.HTTP, UserAgent: l.p.UserAgent()}}
}

func (w *cloudWay) handler() http.Handler {
	return &rsscloud.Subscriber{Wants: w.l.wants, OnNotify: w.received, Procedure: listenProcedure}
}

// received handles a notification.
func (w *cloudWay) received(ctx context.Context, n rsscloud.Received) {
	note := notice{feed: n.URL, at: n.At}
	if r := rsscloud.RequestFrom(ctx); r != nil {
		note.changedAt = parseChangedAt(r.Header.Get(rsscloud.ChangedAtHeader))
	}
	w.l.mu.Lock()
	f := w.l.feeds[n.URL]
	note.test = f != nil && f.asks && w.l.domain == "" && note.changedAt.IsZero()
	w.l.mu.Unlock()
	w.l.take(note)
}

// parseChangedAt parses a time in one of the two formats that hubs send: RFC 3339 or Unix
// milliseconds.
func parseChangedAt(text string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t
	}
	if ms, err := strconv.ParseFloat(text, 64); err == nil && ms > 0 && ms < 1e15 {
		return time.UnixMicro(int64(ms * 1000))
	}
	return time.Time{}
}

// register reads the feed, finds its <cloud> element and registers at that hub.
func (w *cloudWay) register(ctx context.Context, f *followed) (registered, error) {
	l := w.l
	doc, err := l.p.ReadFeed(ctx, f.url)
	if err != nil {
		return registered{}, err
	}
	cloud, err := l.cloudOf(doc)
	if err != nil {
		return registered{}, err
	}
	hub, err := cloud.RegisterURL()
	if err != nil {
		return registered{}, fmt.Errorf("the <cloud> of %s cannot be used: %w", f.url, err)
	}
	l.mu.Lock()
	f.cloud, f.asks = cloud, true
	l.mu.Unlock()
	res, err := w.client.PleaseNotify(ctx, cloud, w.registration(f.url))
	l.mu.Lock()
	f.asks = false
	l.mu.Unlock()
	if err != nil {
		failure := hubclient.HubError(hub, err)
		if e, ok := errors.AsType[*rsscloud.Error](err); ok && e.Status < 500 && e.Status != http.StatusTooManyRequests {
			return registered{}, hubclient.Refusedf("%s", failure)
		}
		return registered{}, hubclient.Temporary(failure)
	}
	if !res.Success {
		return registered{}, hubclient.Refusedf("the hub at %s refuses %s: %s", hub, f.url, res.Msg)
	}
	// spec:rsscloud-2003#renew-24h
	// spec:rsscloud-2009#renew-24h
	return registered{hub: hub, msg: grantedAt(hub, res.Msg), again: renewAfter - rand.N(renewJitter)}, nil
}

// grantedAt returns a text with the hub of a registration and the hub's message. Responses in
// XML-RPC and SOAP have no message.
func grantedAt(hub, message string) string {
	if message == "" {
		return "at " + hub
	}
	return "at " + hub + ": " + message
}

// cloudOf returns the hub to register at: the hub in --hub, otherwise the <cloud> of the feed.
func (l *listener) cloudOf(doc hubclient.Document) (rsscloud.Cloud, error) {
	if l.hub != "" {
		return rsscloud.CloudAt(l.hub), nil
	}
	cloud, err := doc.Cloud()
	if err != nil {
		return cloud, fmt.Errorf("%w: set a hub with --hub", err)
	}
	return cloud, nil
}

func (w *cloudWay) registration(feed string) rsscloud.Registration {
	l := w.l
	g := rsscloud.Registration{Port: l.port, Path: l.path, Protocol: l.via, URLs: []string{feed}, Domain: l.domain}
	if l.via != rsscloud.HTTPPost {
		g.Procedure = listenProcedure
	}
	return g
}

// cancel ends the registration if the hub supports that. Other hubs drop the registration when a
// notification fails.
func (w *cloudWay) cancel(ctx context.Context, f *followed) record {
	res, err := w.client.Cancel(ctx, f.cloud, w.registration(f.url))
	if err != nil || !res.Success {
		return record{}
	}
	return record{Event: "cancelled", Feed: f.url, Message: res.Msg}
}
