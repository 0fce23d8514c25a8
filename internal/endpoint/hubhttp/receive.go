package hubhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// NotifyEndpoints serves the endpoints at which other hubs notify this server. CNWS notifications
// also arrive at the hub's own endpoint, see [CNWS].
type NotifyEndpoints struct {
	Engine  Engine
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil: no log
}

// notifyPaths lists the fixed paths for notifications from other hubs.
func notifyPaths() []string {
	return []string{pathNotifyCloud, pathNotifyRPC, pathNotifySOAP, pathNotifyCNWS}
}

// plainBody rejects compressed bodies, because their full size is unknown before they are read.
func plainBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
			w.Header().Set("Connection", "close") // the body was not read, so the connection cannot be reused
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.Error(w, "The body is encoded; send it as it is, without Content-Encoding.", http.StatusUnsupportedMediaType)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cloud accepts the messages of clouds: notifications, test calls and challenges. The body
// determines the protocol, whatever the path. If the store cannot report whether a feed is wanted,
// the response is 503, so that the cloud repeats the notification. A 410 would end the
// registration.
func (d *NotifyEndpoints) cloud(w http.ResponseWriter, r *http.Request) {
	var failed error
	s := &rsscloud.Subscriber{
		Wants: func(feed string) bool {
			if r.Method != http.MethodPost {
				wanted, err := d.Engine.Wants(r.Context(), feed, upstream.RSSCloud)
				d.logError(r.Context(), err)
				return wanted
			}
			var wanted bool
			wanted, failed = d.Engine.Receive(r.Context(), feed, upstream.RSSCloud, endpoint.CallerAddr(r, d.Trusted), rsscloud.Hops(r.Header))
			d.logError(r.Context(), failed)
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

// websub accepts the messages of WebSub hubs: content, verification requests and denials. Content
// without a valid signature gets the same response as valid content; it is counted and ignored.
//
// spec:websub-2018#signature-ignored-2xx
func (d *NotifyEndpoints) websub(w http.ResponseWriter, r *http.Request) {
	(&websub.Subscriber{Callbacks: &websubRequest{d, r}, Log: d.Log}).ServeHTTP(w, r)
}

// websubRequest is one request of a WebSub hub. It implements websub.Callbacks and websub.Rejecter.
type websubRequest struct {
	*NotifyEndpoints
	r *http.Request
}

// Confirm responds to a hub's verification request.
func (v *websubRequest) Confirm(ctx context.Context, c websub.Confirmation) error {
	yes, err := v.Engine.Confirm(ctx, c.Token, c.Topic, c.Mode == websub.ModeSubscribe, c.Lease)
	if err == nil && !yes {
		return websub.ErrNotWanted
	}
	return err
}

// Denied processes the denial of a subscription.
func (v *websubRequest) Denied(ctx context.Context, d websub.Denial) {
	v.logError(ctx, v.Engine.Denied(ctx, d.Token, d.Topic, endpoint.OneLine(d.Reason)))
}

// Wanted returns the subscription of a token.
func (v *websubRequest) Wanted(ctx context.Context, token string) (websub.Wanted, error) {
	f, err := v.Engine.Callback(ctx, token)
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return websub.Wanted{}, websub.ErrNotWanted
	}
	return websub.Wanted{Topic: f.Topic, Secret: f.Secret}, err
}

// Rejected counts content without a valid signature.
func (v *websubRequest) Rejected(ctx context.Context, token string, _ error) {
	v.logError(ctx, v.Engine.Rejected(ctx, token))
}

// Deliver accepts content. Content with a valid signature is used as it is; other content only
// signals a change. When Deliver returns, the resulting work is stored.
func (v *websubRequest) Deliver(ctx context.Context, d websub.Delivery) error {
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

// logError logs the errors that the operator should see.
func (d *NotifyEndpoints) logError(ctx context.Context, err error) {
	if d.Log == nil || err == nil {
		return
	}
	switch fault.CodeOf(err) {
	case fault.Internal:
		d.Log.ErrorContext(ctx, "a received notification was not accepted", "err", err)
	case fault.Unavailable:
		d.Log.WarnContext(ctx, "a received notification was not accepted", "err", err)
	}
}

// Engine is the interface that the notification endpoints need. [*upstream.Engine] implements it.
type Engine interface {
	Follows
	Wants(ctx context.Context, topic, protocol string) (bool, error)
	Callback(ctx context.Context, token string) (upstream.Follow, error)
	Confirm(ctx context.Context, token, topic string, subscribe bool, lease time.Duration) (bool, error)
	Denied(ctx context.Context, token, topic, reason string) error
	Delivered(ctx context.Context, token string, source netip.Addr, hops int, c upstream.Content) error
	Rejected(ctx context.Context, token string) error
}
