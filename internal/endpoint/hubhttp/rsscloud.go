package hubhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
)

// Names of the interfaces in the log.
const (
	viaREST   = "rest"
	viaXMLRPC = "xml-rpc"
	viaSOAP   = "soap"
)

// maxRefusals is the maximum number of refused feeds in a message.
const maxRefusals = 10

// RSSCloud connects the rssCloud protocol to the hub, for REST, XML-RPC and SOAP. It implements
// rsscloud.Backend.
type RSSCloud struct {
	Hub     Hub
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil: no log
}

// caller describes the client of a request.
type caller struct {
	via  string
	addr netip.Addr
	hops int
}

// cloudPage returns the function that responds to a ping of a browser with a page; nil: none.
func (g *Endpoints) cloudPage() func(http.ResponseWriter, *http.Request, int, rsscloud.Result) {
	if g.PingPage == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, status int, res rsscloud.Result) {
		title := "Thanks"
		if !res.Success {
			title = "Ping refused"
		}
		g.PingPage(w, r, status, title, res.Msg, url.Values{"rssUrl": {r.URL.Query().Get("url")}})
	}
}

// callerOf describes the sender of r. If a method is called without an HTTP request, r is nil and
// only the interface is known.
func (c *RSSCloud) callerOf(via string, r *http.Request) caller {
	if r == nil {
		return caller{via: via}
	}
	return caller{via, endpoint.CallerAddr(r, c.Trusted), rsscloud.Hops(r.Header)}
}

// Ping processes a ping by REST.
func (c *RSSCloud) Ping(ctx context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
	err := c.ping(ctx, c.callerOf(viaREST, rsscloud.RequestFrom(ctx)), p.URL)
	if err != nil {
		return c.refusal(ctx, err)
	}
	return rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}, nil
}

// PleaseNotify processes a registration by REST.
func (c *RSSCloud) PleaseNotify(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	r, err := c.register(ctx, c.callerOf(viaREST, rsscloud.RequestFrom(ctx)), g)
	if err != nil {
		return c.refusal(ctx, err)
	}
	return r, nil
}

// Cancel processes a cancellation, which exists only in REST.
//
// spec:cloudburst#cancel
func (c *RSSCloud) Cancel(ctx context.Context, g rsscloud.Registration) (rsscloud.Result, error) {
	from := c.callerOf(viaREST, rsscloud.RequestFrom(ctx))
	r, _, err := c.registration(from, g)
	if err != nil {
		c.logRejected(ctx, event.KindCancel, from, first(g.URLs), err)
		return c.refusal(ctx, err)
	}
	r.Feeds = g.URLs // an invalid URL is reported as not found, like any URL without a registration
	done, err := c.Hub.Cancel(ctx, r)
	if err != nil {
		return c.refusal(ctx, err)
	}
	msg := "Nothing was cancelled."
	if n := len(done.Accepted); n > 0 {
		msg = fmt.Sprintf("Cancelled: there will be no more notifications of %s.", feeds(n))
	}
	return rsscloud.Result{Success: len(done.Accepted) > 0, Msg: msg + refusals(done.Refused)}, nil
}

func (c *RSSCloud) ping(ctx context.Context, from caller, url string) error {
	if err := rsscloud.CheckFeedURL(url); err != nil {
		c.logRejected(ctx, event.KindPing, from, "", err)
		return err
	}
	res, err := c.Hub.Ping(ctx, hub.Ping{URL: url, Via: from.via, Source: from.addr, Hops: from.hops, Count: wantsOutcome(ctx)})
	if err == nil {
		notePing(ctx, url, res)
	}
	return err
}

// register adds or renews g. A Result without success means that every feed was refused; an error
// means that the whole request was refused.
func (c *RSSCloud) register(ctx context.Context, from caller, g rsscloud.Registration) (rsscloud.Result, error) {
	r, refused, err := c.registration(from, g)
	if err != nil {
		c.logRejected(ctx, event.KindRegister, from, first(g.URLs), err)
		return rsscloud.Result{}, err
	}
	for _, no := range refused {
		c.logRejected(ctx, event.KindRegister, from, "", rsscloud.CheckFeedURL(no.Feed))
	}
	var done hub.Registered
	if len(r.Feeds) > 0 {
		if done, err = c.Hub.Register(ctx, r); err != nil {
			return rsscloud.Result{}, err
		}
	}
	refused = append(refused, done.Refused...)
	// spec:cloudburst#each-url-alone
	if len(done.Accepted) == 0 {
		return rsscloud.Result{Msg: "Not registered." + refusals(refused)}, nil
	}
	msg := fmt.Sprintf("Registered: %s will be notified when %s. Register again within %s; this registration ends at %s.",
		hostOf(r.Callback), changes(len(done.Accepted)), date.InWords(hub.RenewWithin(done.Lasts)), done.Expires.UTC().Format("15:04 MST on 2 January 2006"))
	return rsscloud.Result{Success: true, Msg: msg + refusals(refused)}, nil
}

// registration converts a request for the hub. It refuses each feed with an invalid URL
// individually.
//
// spec:rsscloud-2003#no-proxy-registration
func (c *RSSCloud) registration(from caller, g rsscloud.Registration) (hub.Registration, []hub.Refusal, error) {
	callback, err := g.Callback(from.addr)
	if err != nil {
		return hub.Registration{}, nil, err
	}
	if err := rsscloud.CheckProcedure(g.Protocol, g.Procedure); err != nil {
		return hub.Registration{}, nil, err
	}
	r := hub.Registration{
		Protocol: g.Protocol, Callback: callback,
		// spec:rsscloud-2009#domain-optional
		Challenge: g.Domain != "",
		Source:    from.addr, Via: from.via,
	}
	if g.Protocol == rsscloud.XMLRPC || g.Protocol == rsscloud.SOAP {
		r.Procedure = g.Procedure
	}
	var refused []hub.Refusal
	for _, u := range g.URLs {
		if err := rsscloud.CheckFeedURL(u); err != nil {
			refused = append(refused, hub.Refusal{Feed: u, Reason: message(err)})
			continue
		}
		r.Feeds = append(r.Feeds, u)
	}
	return r, refused, nil
}

// refusal converts an error to its REST form: a Result for errors that the client can fix, an error
// with a status for limits and for failures of this server.
//
// spec:cloudburst#limits-429
func (c *RSSCloud) refusal(ctx context.Context, err error) (rsscloud.Result, error) {
	c.logError(ctx, err)
	e := &rsscloud.Error{Msg: message(err), RetryAfter: fault.RetryAfter(err), Err: err}
	switch code(err) {
	case fault.TooMany:
		e.Status = http.StatusTooManyRequests
		e.RetryAfter = max(e.RetryAfter, time.Second)
	case fault.Unavailable:
		e.Status = http.StatusServiceUnavailable
		e.RetryAfter = max(e.RetryAfter, 10*time.Second)
	case fault.Internal:
		e.Status = http.StatusInternalServerError
	default:
		return rsscloud.Result{Msg: e.Msg}, nil
	}
	return rsscloud.Result{}, e
}

// code returns the code of err. Errors of package rsscloud are errors of the client.
func code(err error) fault.Code {
	if _, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return fault.Invalid
	}
	return fault.CodeOf(err)
}

// message returns the part of err that the client may see.
func message(err error) string {
	if f, ok := errors.AsType[*rsscloud.FieldError](err); ok {
		return f.Msg
	}
	return fault.Message(err)
}

// logError logs the errors that the operator should see. No other layer logs them.
func (c *RSSCloud) logError(ctx context.Context, err error) {
	if c.Log == nil {
		return
	}
	switch code(err) {
	case fault.Internal:
		c.Log.ErrorContext(ctx, "rssCloud request failed", "err", err)
	case fault.Unavailable:
		c.Log.WarnContext(ctx, "rssCloud request could not be processed", "err", err)
	}
}

func feeds(n int) string {
	if n == 1 {
		return "this feed"
	}
	return fmt.Sprintf("these %d feeds", n)
}

func changes(n int) string {
	if n == 1 {
		return "this feed changes"
	}
	return fmt.Sprintf("any of %d feeds changes", n)
}

// refusals lists the refused feeds with the reasons. Feeds with the same reason share one sentence.
func refusals(list []hub.Refusal) string {
	var b strings.Builder
	var reasons []string
	named := map[string][]string{}
	for i, r := range list {
		if i == maxRefusals {
			break
		}
		if named[r.Reason] == nil {
			reasons = append(reasons, r.Reason)
		}
		named[r.Reason] = append(named[r.Reason], r.Feed)
	}
	for _, reason := range reasons {
		fmt.Fprintf(&b, " Refused %s: %s", strings.Join(named[reason], ", "), reason)
	}
	if more := len(list) - maxRefusals; more > 0 {
		fmt.Fprintf(&b, " %d more were refused.", more)
	}
	return b.String()
}

// hostOf returns the host and port of a URL, for public messages.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
