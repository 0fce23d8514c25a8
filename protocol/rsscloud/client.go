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

// HTTPClient sends requests; *http.Client is one. A program that calls hosts which
// strangers name gives one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client talks to clouds for authors ([Client.Ping]) and aggregators
// ([Client.PleaseNotify]), and to aggregators for clouds ([Client.Notify],
// [Client.Challenge]). The zero value works.
//
// A refusal is a [Result] without success and a nil error. An [*Error] has the
// status of an answer that is none, or of a limit; [ErrInvalidResponse] means an answer
// that cannot be read.
type Client struct {
	HTTP      HTTPClient // nil: one with a time limit of 30 s that follows no redirect
	UserAgent string
}

// PingDoor is where a hub takes pings: /ping, /RPC2 or /soap beside base for
// HTTPPost, XMLRPC and SOAP. A base with a path of its own is the door already.
func PingEndpoint(protocol, base string) (string, error) {
	if err := CheckFeedURL(base); err != nil {
		return "", fmt.Errorf("rsscloud: the hub's URL %s must be like https://hub.example.com or http://192.0.2.7:5337", wirehttp.Quote(base))
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

// Ping tells the cloud whose ping door is at door that feed has changed. Save the
// feed first: the cloud reads it. The protocol is HTTPPost (REST), XMLRPC or SOAP;
// see [PingDoor] and [Cloud.PingURL] for doors.
//
// spec:rsscloud-2009#ping-rest
// spec:rsscloud-2009#ping-xml-rpc
func (c *Client) Ping(ctx context.Context, protocol, door, feed string) (Result, error) {
	switch protocol {
	case HTTPPost, HTTPSPost:
		return c.form(ctx, door, Form{{"url", feed}})
	case XMLRPC:
		return c.xmlrpc(ctx, door, MethodPing, feed)
	case SOAP:
		return c.soap(ctx, door, "ping", soap.Param{Name: "url", Value: feed})
	}
	return Result{}, protocolError(protocol)
}

// PleaseNotify asks the cloud for notifications, in the way that the <cloud>
// element wants to be asked.
//
// spec:rsscloud-2003#ask-in-protocol
func (c *Client) PleaseNotify(ctx context.Context, cloud Cloud, g Registration) (Result, error) {
	if err := g.Check(); err != nil {
		return Result{}, err
	}
	door, err := cloud.RegisterURL()
	if err != nil {
		return Result{}, err
	}
	switch cloud.Protocol {
	case XMLRPC:
		return c.xmlrpc(ctx, door, cmp.Or(cloud.RegisterProcedure, MethodPleaseNotify), g.Params()...)
	case SOAP:
		name := cmp.Or(cloud.RegisterProcedure, MethodPleaseNotify)
		return c.soap(ctx, door, name[strings.LastIndexByte(name, '.')+1:], soapParams(g)...)
	}
	return c.form(ctx, door, g.Form())
}

// Cancel ends a registration, on clouds that can do that.
func (c *Client) Cancel(ctx context.Context, cloud Cloud, g Registration) (Result, error) {
	door, err := cloud.CancelURL()
	if err != nil {
		return Result{}, err
	}
	return c.form(ctx, door, g.Form())
}

func soapParams(g Registration) []soap.Param {
	var params []soap.Param
	for i, v := range g.Params() {
		params = append(params, soap.Param{Name: ParamNames()[i], Value: v})
	}
	return params
}

// ParamNames are the names of the parameters of pleaseNotify over SOAP, in order.
func ParamNames() []string {
	return []string{"notifyProcedure", "port", "path", "protocol", "urlList", "domain"}
}

func (c *Client) form(ctx context.Context, door string, f Form) (Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, door, bytes.NewReader(f.Encode()))
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

func (c *Client) xmlrpc(ctx context.Context, door, method string, params ...any) (Result, error) {
	x := &xmlrpc.Client{URL: door, HTTP: wirehttp.ClientOr(c.HTTP), UserAgent: c.UserAgent}
	v, err := x.Call(ctx, method, params...)
	if f, ok := errors.AsType[*xmlrpc.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		return Result{}, &Error{Status: e.Status, Msg: "The cloud answered " + wirehttp.StatusText(e.Status) + ".", Err: err}
	}
	if err != nil {
		return Result{}, fmt.Errorf("rsscloud: %w", err)
	}
	return resultOf(v)
}

func (c *Client) soap(ctx context.Context, door, name string, params ...soap.Param) (Result, error) {
	x := &soap.Client{URL: door, Namespace: soapNamespace, Action: soapNamespace + name, HTTP: wirehttp.ClientOr(c.HTTP), UserAgent: c.UserAgent}
	v, err := x.Call(ctx, name, params...)
	if f, ok := errors.AsType[*soap.Fault](err); ok {
		return Result{Msg: f.String}, nil
	}
	if e, ok := errors.AsType[*soap.HTTPError](err); ok {
		return Result{}, &Error{Status: e.Status, Msg: "The cloud answered " + wirehttp.StatusText(e.Status) + ".", Err: err}
	}
	if err != nil {
		return Result{}, fmt.Errorf("rsscloud: %w", err)
	}
	if v == nil { // a procedure without a value, and no fault
		return Result{Success: true}, nil
	}
	return resultOf(v)
}

// Notify tells a callback that feed changed, which is also what a test call is.
// The answer's value is ignored; an error status is an [*Error] (410 means: never
// again), and a callback that answers as a cloud's ping door does is [ErrLoop].
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

// Challenge asks a callback whether it wants notifications of feed, with a
// challenge of its own making. nil is consent; see [CheckConsent].
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

// NewChallenge makes a challenge: 32 random hexadecimal digits.
func NewChallenge() string {
	var b [16]byte
	// crypto/rand does not fail; it ends the program when the system has no randomness.
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// send does r and reads at most limit bytes of the answer.
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
		return nil, nil, fmt.Errorf("rsscloud: read the answer: %w", err)
	}
	return resp, body, nil
}
