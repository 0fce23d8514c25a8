package hubhttp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"
)

// Verifier verifies callbacks through Sender. It implements hub.Verifier. All failures without a
// response have the same text and timing, so that a client cannot use this server to scan for open
// ports.
type Verifier struct {
	Sender    endpoint.Sender
	Now       func() time.Time // nil: time.Now
	Redirects *Redirects       // the same as the Notifier's
}

// Verify asks the callback of sub whether it wants notifications of topic.
func (v *Verifier) Verify(ctx context.Context, sub hub.Subscription, topic hub.Topic, challenge bool) (event.Exchange, error) {
	if sub.Protocol == hub.CNWS {
		return v.verifyCNWS(ctx, sub, topic)
	}
	feed := topic.URL
	if !challenge {
		return v.testCall(ctx, sub, feed, false)
	}
	x, status, err := v.challenge(ctx, sub, feed)
	rpc := sub.Protocol == hub.XMLRPC || sub.Protocol == hub.SOAP
	if rpc && noGet(status) {
		// spec:cloudburst#challenge-fallback
		return v.testCall(ctx, sub, feed, true)
	}
	return x, err
}

// noGet reports whether a status means that the server has no handler for GET. Python's http.server
// responds with 501.
func noGet(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// testCall sends a real notification. A client could name a server of someone else that responds
// 200 to every POST. Therefore, if the callback is not at the client's own address (strict), the
// response must come from an existing procedure.
//
// spec:rsscloud-2009#test-call
func (v *Verifier) testCall(ctx context.Context, sub hub.Subscription, feed string, strict bool) (event.Exchange, error) {
	e, err := encode(sub.Protocol, sub.Procedure, feed, 0, time.Time{})
	if err != nil {
		return event.Exchange{Callback: sub.Callback, Error: err.Error()}, err
	}
	m := &fetch.Message{
		URL: sub.Callback, ContentType: e.contentType, Header: e.header, Body: e.body,
		WantBody: true, Padded: true,
	}
	r, last, redirected := v.Redirects.post(ctx, v.Sender, m, feed, true)
	x := exchange(last, &r)
	x.Callback = sub.Callback
	switch {
	case r.Err != nil:
		return x, noAnswer("test call", &r)
	case redirected != "":
		return x, fault.New(fault.Unreadable, "The test call failed. %s", redirected)
	case rsscloud.IsPingResponse(r.Body):
		// spec:cloudburst#callback-own-endpoint
		return x, fault.New(fault.Refused, "The callback answered the test call like a cloud's ping endpoint; notifications sent there would loop.")
	case !r.OK():
		return x, fault.New(fault.Unreadable, "The test call failed. %s", failureText(&r))
	}
	switch called, failed := procedureAnswered(sub.Protocol, r.Body); {
	case failed != nil:
		return x, fault.Wrap(fault.Refused, failed, "The callback answered the test call of the procedure %s with a fault, so it is not functional.", sub.Procedure)
	case strict && !called:
		return x, fault.New(fault.Refused, "The callback did not return the challenge, and its answer to the test call of %s is not a valid XML-RPC or SOAP response.", sub.Procedure)
	}
	return x, nil
}

// procedureAnswered reports whether body is the response of a called procedure. If body is a fault,
// the fault is returned as the error. For callbacks by HTTP POST, which call no procedure, there is
// nothing to check.
func procedureAnswered(protocol string, body []byte) (called bool, failed error) {
	var err error
	switch protocol {
	case hub.SOAP:
		if _, err = soap.ParseResponse(bytes.NewReader(body)); err != nil {
			if f, ok := errors.AsType[*soap.Fault](err); ok {
				return false, f
			}
		}
	case hub.XMLRPC:
		if _, err = xmlrpc.ParseResponse(bytes.NewReader(body)); err != nil {
			if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
				return false, f
			}
		}
	default:
		return false, nil
	}
	return err == nil, nil
}

// challenge sends the GET that an aggregator must answer with the challenge. status is the status
// of the response, or 0 if there was none.
//
// spec:rsscloud-2009#challenge
func (v *Verifier) challenge(ctx context.Context, sub hub.Subscription, feed string) (x event.Exchange, status int, err error) {
	secret := rsscloud.NewChallenge()
	final, r, last, redirected := v.Redirects.ask(ctx, v.Sender, sub.Callback, feed, secret)
	x = exchange(last, &r)
	x.Callback = sub.Callback
	if r.Err != nil {
		return x, 0, noAnswer("challenge", &r)
	}
	if redirected != "" {
		return x, r.Status, fault.New(fault.Refused, "The callback did not return the challenge. %s", redirected)
	}
	switch err := rsscloud.CheckConsent(r.Status, r.ContentType, r.Body, secret, feed); {
	case errors.Is(err, rsscloud.ErrEcho):
		return x, r.Status, fault.New(fault.Refused, "The callback answered the challenge with a text that repeats the request, which is not consent; answer with the challenge alone, as text/plain.")
	case err != nil && !r.OK():
		return x, r.Status, fault.New(fault.Refused, "The callback did not return the challenge. %s", failureText(&r))
	case err != nil:
		return x, r.Status, fault.New(fault.Refused, "The callback did not return the challenge: it answered %s, and its answer does not contain the challenge in the first %d KiB.", wirehttp.StatusText(r.Status), rsscloud.MaxConsent>>10)
	}
	v.Redirects.remember(sub.Callback, final)
	return x, r.Status, nil
}

// reachable is the advice in the message about a callback that sent no response.
const reachable = "It must have a public address that this server can reach through all firewalls and routers, and respond in time."

func noAnswer(what string, r *fetch.Reply) error {
	if r.NotTried {
		return fault.Wrap(fault.Unavailable, r.Err, "The %s could not be made now because of a problem on this server; please register again in a minute.", what)
	}
	if errors.Is(r.Err, fetch.ErrOwn) {
		return fault.Wrap(fault.Refused, r.Err, leadsHere)
	}
	// The advice is always the same, so that the message does not reveal the reason.
	return fault.Wrap(fault.Unreadable, r.Err, "The %s failed. %s", what, unanswered+" "+reachable)
}

// verifyCNWS requests a CNWS subscriber's consent with a test notification. Any web server may
// respond with status 200, so the response must be a CNWS result document.
//
// spec:cloudburst#cnws-consent
func (v *Verifier) verifyCNWS(ctx context.Context, sub hub.Subscription, topic hub.Topic) (event.Exchange, error) {
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	e, err := encodeCNWS(&topic, 0, now)
	if err != nil {
		return event.Exchange{Callback: sub.Callback, Error: err.Error()}, err
	}
	m := &fetch.Message{
		URL: sub.Callback, ContentType: cnws.ContentType, Header: e.header, Body: e.body,
		WantBody: true, Padded: true,
	}
	r := v.Sender.Send(ctx, m)
	x := exchange(m, &r)
	wanted, err := cnwsAnswer(&r)
	switch {
	case r.Err != nil:
		return x, noAnswer("test notification", &r)
	case rsscloud.IsPingResponse(r.Body):
		// spec:cloudburst#callback-own-endpoint
		return x, fault.New(fault.Refused, "The notificationURL answered the test notification like a cloud's ping endpoint; notifications sent there would loop.")
	case !r.OK():
		return x, fault.New(fault.Unreadable, "The test notification failed. %s", failureText(&r))
	case err != nil:
		return x, fault.Wrap(fault.Refused, err, "The notificationURL answered the test notification, but not with the result document of CNWS; it must answer with a status of true.")
	case !wanted:
		return x, fault.New(fault.Refused, "The notificationURL answered the test notification with false: it does not want notifications of this resource.")
	}
	return x, nil
}
