package hubhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// Notified is the doors at which other hubs tell this server of changes. CNWS comes
// in at the hub's own door too, see [CNWS].
type NotifyEndpoints struct {
	Engine  Engine
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil is silent
}

// notifyDoors are the paths of those that have a path of their own.
func notifyDoors() []string {
	return []string{pathNotifyCloud, pathNotifyRPC, pathNotifySOAP, pathNotifyCNWS}
}

// plainBody refuses bodies that are packed: what they would come to is not known before
// they are read.
func plainBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
			w.Header().Set("Connection", "close") // the body is not read
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.Error(w, "The body is encoded; send it as it is, without Content-Encoding.", http.StatusUnsupportedMediaType)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cloud takes what clouds send: notifications, test calls and challenges, in any of
// their protocols at any of the paths: what counts is the body. When it
// cannot be looked up whether a feed is wanted, a notification is answered 503, so
// that it is sent again, and never 410, which would end the registration.
func (d *NotifyEndpoints) cloud(w http.ResponseWriter, r *http.Request) {
	var failed error
	s := &rsscloud.Subscriber{
		Wants: func(feed string) bool {
			if r.Method != http.MethodPost {
				wanted, err := d.Engine.Wants(r.Context(), feed, upstream.RSSCloud)
				d.logged(r.Context(), err)
				return wanted
			}
			var wanted bool
			wanted, failed = d.Engine.Receive(r.Context(), feed, upstream.RSSCloud, endpoint.CallerAddr(r, d.Trusted), rsscloud.Hops(r.Header))
			d.logged(r.Context(), failed)
			return wanted || failed != nil
		},
		Take: func(context.Context, rsscloud.Received) error {
			if failed == nil {
				return nil
			}
			return &rsscloud.Error{Msg: fault.Message(failed), Err: failed}
		},
	}
	s.ServeHTTP(w, r)
}

// websub takes what WebSub hubs send: content, questions and denials. Content that
// is not signed as it should be gets the same answer as any other, and is counted.
//
// spec:websub-2018#signature-ignored-2xx
func (d *NotifyEndpoints) websub(w http.ResponseWriter, r *http.Request) {
	(&websub.Subscriber{Callbacks: &visit{d, r}, Log: d.Log}).ServeHTTP(w, r)
}

// visit is one request of a WebSub hub; it is a websub.Callbacks and a websub.Rejecter.
type visit struct {
	*NotifyEndpoints
	r *http.Request
}

// Confirm answers a hub's question.
func (v *visit) Confirm(ctx context.Context, c websub.Confirmation) error {
	yes, err := v.Engine.Confirm(ctx, c.Token, c.Topic, c.Mode == websub.ModeSubscribe, c.Lease)
	if err == nil && !yes {
		return websub.ErrNotWanted
	}
	return err
}

// Denied hears that a hub denies a subscription.
func (v *visit) Denied(ctx context.Context, d websub.Denial) {
	v.logged(ctx, v.Engine.Denied(ctx, d.Token, d.Topic, endpoint.OneLine(d.Reason)))
}

// Wanted is what the token stands for.
func (v *visit) Wanted(ctx context.Context, token string) (websub.Wanted, error) {
	f, err := v.Engine.Callback(ctx, token)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return websub.Wanted{}, websub.ErrNotWanted
	}
	return websub.Wanted{Topic: f.Topic, Secret: f.Secret}, err
}

// Rejected hears of content that is not signed as it should be.
func (v *visit) Rejected(ctx context.Context, token string, _ error) {
	v.logged(ctx, v.Engine.Rejected(ctx, token))
}

// Deliver takes content, which counts where it was signed; else it says only that
// there is some. When it returns, what follows is on disk.
func (v *visit) Deliver(ctx context.Context, d websub.Delivery) error {
	c := upstream.Content{Body: d.Body, Signed: d.Verified, Header: http.Header{"Content-Type": {d.ContentType}}}
	if links := v.r.Header.Values("Link"); len(links) > 0 {
		c.Header["Link"] = links
	}
	err := v.Engine.Delivered(ctx, d.Token, endpoint.CallerAddr(v.r, v.Trusted), rsscloud.Hops(v.r.Header), c)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return websub.ErrNotWanted
	}
	return err
}

// logged writes down what is the operator's business.
func (d *NotifyEndpoints) logged(ctx context.Context, err error) {
	if d.Log == nil || err == nil {
		return
	}
	switch fault.CodeOf(err) {
	case fault.Internal:
		d.Log.ErrorContext(ctx, "a notification could not be taken", "error", err)
	case fault.Unavailable:
		d.Log.WarnContext(ctx, "a notification could not be taken", "error", err)
	}
}
