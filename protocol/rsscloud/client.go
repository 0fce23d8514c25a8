package rsscloud

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/soap"
	"cloudburst/protocol/xmlrpc"
)

// HTTPClient sends requests; *http.Client implements it. A program that calls hosts named
// by unknown clients should use one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls clouds for authors ([Client.Ping]) and aggregators ([Client.PleaseNotify]),
// and calls aggregators for clouds ([Client.Notify], [Client.Challenge]). The zero value is
// ready to use.
//
// A refusal is a [Result] without success and a nil error. An [*Error] has the HTTP status
// of a failed request or of a limit. [ErrInvalidResponse] means that the response cannot be
// read.
type Client struct {
	HTTP      HTTPClient // nil: a client with a timeout of 30 s that follows no redirects
	UserAgent string
}

// PingEndpoint returns the URL at which a hub with the URL base accepts pings: /ping for
// HTTPPost and HTTPSPost, /RPC2 for XMLRPC, /soap for SOAP. A base with a path is the
// endpoint already and is returned unchanged.
func PingEndpoint(protocol, base string) (string, error) {
	if err := CheckFeedURL(base); err != nil {
		return "", fmt.Errorf("rsscloud: %s is not a hub URL; use one like https://hub.example.com", wirehttp.Quote(base))
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	if u.Path != "" && u.Path != "/" {
		return base, nil
	}
	switch protocol {
	case HTTPPost, HTTPSPost:
		u.Path = "/ping"
	case XMLRPC:
		u.Path = "/RPC2"
	case SOAP:
		u.Path = "/soap"
	default:
		return "", protocolError(protocol)
	}
	return u.String(), nil
}

// Ping informs the cloud with the given ping endpoint that feed has changed. Save the feed
// first, because the cloud reads it. protocol is HTTPPost (REST), HTTPSPost, XMLRPC or
// SOAP. [PingEndpoint] and [Cloud.PingURL] return endpoints.
//
// spec:rsscloud-2009#ping-rest
// spec:rsscloud-2009#ping-xml-rpc
func (c *Client) Ping(ctx context.Context, protocol, endpoint, feed string) (Result, error) {
	switch protocol {
	case HTTPPost, HTTPSPost:
		return c.form(ctx, endpoint, Form{{"url", feed}})
	case XMLRPC:
		return c.xmlrpc(ctx, endpoint, MethodPing, feed)
	case SOAP:
		return c.soap(ctx, endpoint, "ping", soap.Param{Name: "url", Value: feed})
	}
	return Result{}, protocolError(protocol)
}

// PleaseNotify registers g at the cloud, in the protocol that the <cloud> element names.
//
// spec:rsscloud-2003#register-in-protocol
func (c *Client) PleaseNotify(ctx context.Context, cloud Cloud, g Registration) (Result, error) {
	if err := g.Check(); err != nil {
		return Result{}, err
	}
	endpoint, err := cloud.RegisterURL()
	if err != nil {
		return Result{}, err
	}
	switch cloud.Protocol {
	case XMLRPC:
		return c.xmlrpc(ctx, endpoint, cmp.Or(cloud.RegisterProcedure, MethodPleaseNotify), g.Params()...)
	case SOAP:
		name := cmp.Or(cloud.RegisterProcedure, MethodPleaseNotify)
		return c.soap(ctx, endpoint, name[strings.LastIndexByte(name, '.')+1:], soapParams(g)...)
	}
	return c.form(ctx, endpoint, g.Form())
}

// Cancel ends a registration. Not all clouds support it; see [Cloud.CancelURL].
func (c *Client) Cancel(ctx context.Context, cloud Cloud, g Registration) (Result, error) {
	endpoint, err := cloud.CancelURL()
	if err != nil {
		return Result{}, err
	}
	return c.form(ctx, endpoint, g.Form())
}

func soapParams(g Registration) []soap.Param {
	var params []soap.Param
	for i, v := range g.Params() {
		params = append(params, soap.Param{Name: ParamNames()[i], Value: v})
	}
	return params
}

// ParamNames returns the names of the parameters of pleaseNotify over SOAP, in order.
func ParamNames() []string {
	return []string{"notifyProcedure", "port", "path", "protocol", "urlList", "domain"}
}

func (c *Client) form(ctx context.Context, endpoint string, f Form) (Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(f.Encode()))
	if err != nil {
		return Result{}, fmt.Errorf("rsscloud: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/xml, application/xml;q=0.9, application/json;q=0.8, */*;q=0.1")
	resp, body, err := c.send(r, maxAnswer)
	if err != nil {
		return Result{}, err
	}
	result, parseErr := ParseResult(body)
	switch ok := resp.StatusCode >= 200 && resp.StatusCode <= 299; {
	case ok:
		return result, parseErr
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 500, parseErr != nil:
		return Result{}, &Error{
			Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header),
			Msg: cmp.Or(result.Msg, "The cloud answered "+wirehttp.StatusText(resp.StatusCode)+"."),
		}
	}
	result.Success = false
	return result, nil
}

func (c *Client) xmlrpc(ctx context.Context, endpoint, method string, params ...any) (Result, error) {
	x := &xmlrpc.Client{URL: endpoint, HTTP: wirehttp.ClientOr(c.HTTP), UserAgent: c.UserAgent}
	v, err := x.Call(ctx, method, params...)
	if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		return Result{}, &Error{Status: e.Status, Msg: "The cloud answered " + wirehttp.StatusText(e.Status) + ".", Err: err}
	}
	if _, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResponse, err)
	}
	if err != nil {
		return Result{}, fmt.Errorf("rsscloud: %w", err)
	}
	return resultOf(v)
}

func (c *Client) soap(ctx context.Context, endpoint, name string, params ...soap.Param) (Result, error) {
	x := &soap.Client{URL: endpoint, Namespace: soapNamespace, Action: soapNamespace + name, HTTP: wirehttp.ClientOr(c.HTTP), UserAgent: c.UserAgent}
	v, err := x.Call(ctx, name, params...)
	if f, ok := errors.AsType[*soap.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	if e, ok := errors.AsType[*soap.HTTPError](err); ok {
		return Result{}, &Error{Status: e.Status, Msg: "The cloud answered " + wirehttp.StatusText(e.Status) + ".", Err: err}
	}
	if _, ok := errors.AsType[*soap.SyntaxError](err); ok {
		return Result{}, fmt.Errorf("%w: %w", ErrInvalidResponse, err)
	}
	if err != nil {
		return Result{}, fmt.Errorf("rsscloud: %w", err)
	}
	if v == nil { // no value and no fault: success
		return Result{Success: true}, nil
	}
	return resultOf(v)
}

// Notify notifies a callback that feed changed. A test call is the same request. The value
// of the response is ignored. An error status is an [*Error]; 410 means that the
// subscription has ended. A callback that responds like a cloud's ping endpoint is
// [ErrLoop].
//
// spec:rsscloud-2009#notify-value-ignored
func (c *Client) Notify(ctx context.Context, protocol, callback, procedure, feed string, hops int) error {
	n, err := EncodeNotification(protocol, procedure, feed)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, callback, bytes.NewReader(n.Body))
	if err != nil {
		return fmt.Errorf("rsscloud: %w", err)
	}
	n.SetHeader(r.Header)
	r.Header.Set(HopsHeader, strconv.Itoa(hops))
	resp, body, err := c.send(r, maxReply)
	switch {
	case err != nil:
		return err
	case IsPingResponse(body):
		return ErrLoop
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: "The callback answered " + wirehttp.StatusText(resp.StatusCode) + "."}
	}
	return nil
}

// Challenge asks a callback, with a new challenge, whether it wants notifications of feed.
// nil means consent; for the errors see [CheckConsent].
//
// spec:rsscloud-2009#challenge
func (c *Client) Challenge(ctx context.Context, callback, feed string) error {
	challenge := NewChallenge()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, ChallengeURL(callback, feed, challenge), nil)
	if err != nil {
		return fmt.Errorf("rsscloud: %w", err)
	}
	resp, body, err := c.send(r, MaxConsent)
	if err != nil {
		return err
	}
	return CheckConsent(resp.StatusCode, resp.Header.Get("Content-Type"), body, challenge, feed)
}

// NewChallenge returns a challenge of 32 random hexadecimal digits.
func NewChallenge() string {
	var b [16]byte
	// crypto/rand never returns an error; it ends the program if the system has no
	// randomness.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// send sends r and reads at most limit bytes of the response body.
func (c *Client) send(r *http.Request, limit int64) (*http.Response, []byte, error) {
	if c.UserAgent != "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
	if err != nil {
		return nil, nil, fmt.Errorf("rsscloud: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err != nil {
		return nil, nil, fmt.Errorf("rsscloud: read the response: %w", err)
	}
	return resp, body, nil
}
