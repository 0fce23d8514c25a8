// Package client talks to a running cloudburst: it is a Go client of the JSON API
// that the server offers its operator on the admin listener, below /v1/.
//
// Whoever reaches that listener may do everything, so it is bound to a loopback
// address unless somebody chose otherwise, and the client sends no credentials. The
// doors of [River], and those to posts, files and profiles, are on the public listener
// too, for programs that have a token.
// The API is described by the OpenAPI document at /v1/openapi.json, which has the
// same names as the types here. Start with [Client]:
//
//	c := client.Client{Base: "http://127.0.0.1:5338"}
//	for s, err := range c.Subscriptions(ctx, client.SubscriptionQuery{}) {
//		…
//	}
//
// Lists are iterators that read page after page while the loop goes on. An answer
// that is not a success is an [*Error].
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// DefaultBase is where a server listens for its operator when nobody says otherwise.
const DefaultBase = "http://127.0.0.1:5338"

// HTTPClient sends one request; *http.Client is one.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls the API of one server. The zero Client calls DefaultBase. It is
// safe for concurrent use when HTTP is.
type Client struct {
	Base string     // scheme://host:port; "" means DefaultBase
	HTTP HTTPClient // nil means a client of its own without a time limit: use the context
	// Token goes with each request, for the public listener of a server, which answers
	// nobody without one. The operator's listener asks for none.
	Token string
}

// Error is an answer that is not a success.
type Error struct {
	Status     int           `json:"-"`       // HTTP status
	Code       string        `json:"code"`    // stable name: invalid, not-found, unavailable …
	Message    string        `json:"message"` // one sentence for people
	Field      string        `json:"field"`   // what of the request is wrong: title, enclosures[2].url; "": nothing in particular
	RetryAfter time.Duration `json:"-"`       // 0: the answer does not say
}

func (e *Error) Error() string { return e.Message }

// UnreachableError means that no server answered at all.
type UnreachableError struct {
	Base string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no server answers at %s: %v", e.Base, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// maxAnswer bounds a JSON answer: a page of 1,000 long rows fits many times.
const maxAnswer = 64 << 20

func (c *Client) base() string {
	if c.Base == "" {
		return DefaultBase
	}
	return strings.TrimSuffix(c.Base, "/")
}

func (c *Client) http() HTTPClient {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{}
}

// call sends one request and decodes the answer into out, unless out is nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	return c.callWith(ctx, method, path, query, http.Header{}, in, out)
}

// callWith is call with headers of the request.
func (c *Client) callWith(ctx context.Context, method, path string, query url.Values, header http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("client: encoding the request: %w", err)
		}
		body = bytes.NewReader(b)
		header.Set("Content-Type", "application/json")
	}
	res, err := c.send(ctx, method, path, query, header, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("client: the answer of %s %s cannot be read: %w", method, path, err)
	}
	return nil
}

// send returns a successful answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader) (*http.Response, error) {
	target := c.base() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("client: %q is not the address of a server: %w", c.base(), err)
	}
	req.Header = header
	if b, ok := body.(*sized); ok {
		req.ContentLength = b.size
	}
	req.Header.Set("Accept", "application/json, application/x-ndjson, text/event-stream")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	res, err := c.http().Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// The method and the whole URL tell the operator nothing more.
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, &UnreachableError{Base: c.base(), Err: err}
	}
	if res.StatusCode/100 != 2 {
		defer res.Body.Close()
		return nil, readError(res)
	}
	return res, nil
}

func readError(res *http.Response) error {
	e := &Error{Status: res.StatusCode}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	var answer struct {
		Error *Error `json:"error"`
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media == "application/json" &&
		json.Unmarshal(body, &answer) == nil && answer.Error != nil && answer.Error.Message != "" {
		e.Code, e.Message = answer.Error.Code, answer.Error.Message
		return e
	}
	e.Code = "internal"
	e.Message = fmt.Sprintf("the server answered %d %s, not in the form of a cloudburst admin listener: is this the right address?",
		res.StatusCode, http.StatusText(res.StatusCode))
	return e
}

// IsNotFound reports an answer that says there is no such thing.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == "not-found"
}

// IsUnreachable reports that no server answered.
func IsUnreachable(err error) bool {
	_, ok := errors.AsType[*UnreachableError](err)
	return ok
}
