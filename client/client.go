// Package client is a Go client for the JSON API of a Cloudburst server. The server offers the API
// to its operator on the admin listener, below /v1/.
//
// The admin listener has no authentication: every program that can connect has full access. By
// default it is therefore bound to a loopback address, and the client sends no credentials. The
// endpoints of [River] and the endpoints for posts, files and profiles are also available on the
// public listener. There each request needs a token; see [Client.Token].
//
// The OpenAPI document at /v1/openapi.json describes the API. The fields of the types here have the
// JSON names of that document. Start with [Client]:
//
//	c := client.Client{Base: "http://127.0.0.1:5338"}
//	for s, err := range c.Subscriptions(ctx, client.SubscriptionQuery{}) {
//		…
//	}
//
// Lists are iterators that request one page after another while the loop runs. A response without a
// success status becomes an [*Error].
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
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// DefaultBase is the URL of the admin listener in the default configuration.
const DefaultBase = "http://127.0.0.1:5338"

// HTTPClient sends an HTTP request. [*http.Client] implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls the API of one server. The zero Client calls DefaultBase. A Client is safe for
// concurrent use if its HTTP field is safe for concurrent use.
type Client struct {
	Base string     // URL of the server, scheme://host:port; "" means DefaultBase
	HTTP HTTPClient // nil means a new client without a timeout; limit the time of a call with the context
	// Token is sent as a bearer token with each request. The public listener requires a token; the
	// admin listener does not.
	Token string
}

// Error is a response with a status that reports a failure.
type Error struct {
	Status     int           `json:"-"`       // HTTP status code
	Code       string        `json:"code"`    // stable name such as invalid, not-found or unavailable
	Message    string        `json:"message"` // one sentence for people
	Field      string        `json:"field"`   // invalid field of the request, such as title or enclosures[2].url; "" if no single field is invalid
	RetryAfter time.Duration `json:"-"`       // minimum time until the next attempt; 0: the response has no Retry-After header
}

func (e *Error) Error() string { return e.Message }

// UnreachableError means that no server responded at Base.
type UnreachableError struct {
	Base string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no server answers at %s: %v", e.Base, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// maxAnswer is the maximum size of a JSON response in bytes. It is many times the size of a page of
// 1,000 long rows.
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

// call sends one request. If out is not nil, it decodes the response into out.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	return callWith(ctx, c, method, path, query, http.Header{}, in, out)
}

// answer calls an endpoint and returns the decoded response.
func answer[T any](ctx context.Context, c *Client, method, path string, query url.Values, in any) (out T, err error) {
	err = c.call(ctx, method, path, query, in, &out)
	return out, err
}

// memberOf calls an endpoint and returns the member called key of the response.
func memberOf[T any](ctx context.Context, c *Client, method, path string, query url.Values, in any, key string) (T, error) {
	m := member[T]{key: key}
	err := c.call(ctx, method, path, query, in, &m)
	return m.value, err
}

// member decodes one member of a JSON object, and the cursor of the next page of a list.
type member[T any] struct {
	key   string
	value T
	next  string
}

// UnmarshalJSON decodes an object. Missing members leave their fields unchanged.
func (m *member[T]) UnmarshalJSON(b []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	for name, field := range map[string]any{m.key: &m.value, "next": &m.next} {
		if value, ok := object[name]; ok {
			if err := json.Unmarshal(value, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// callWith is like call but also sends the headers in header.
func callWith(ctx context.Context, c *Client, method, path string, query url.Values, header http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("client: cannot encode the request: %w", err)
		}
		body = bytes.NewReader(b)
		header.Set("Content-Type", "application/json")
	}
	return c.callBody(ctx, method, path, query, header, body, out)
}

// callBody is like callWith with a body in any format.
func (c *Client) callBody(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader, out any) error {
	res, err := c.send(ctx, method, path, query, header, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("client: cannot decode the response to %s %s: %w", method, path, err)
	}
	return nil
}

// send sends a request and returns the response if its status reports success. The caller must
// close the body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header http.Header, body io.Reader) (*http.Response, error) {
	if u, err := url.Parse(c.base()); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("client: invalid Base %q: must be the URL of a server, such as %s", c.Base, DefaultBase)
	}
	target := c.base() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("client: cannot make the request: %w", err)
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
		// Remove the method and the full URL, which *url.Error adds to the text; the error already
		// has Base.
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
	e := &Error{Status: res.StatusCode, RetryAfter: wirehttp.RetryAfter(res.Header)}
	var answer struct {
		Error *Error `json:"error"`
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media == "application/json" &&
		json.Unmarshal(body, &answer) == nil && answer.Error != nil && answer.Error.Message != "" {
		e.Code, e.Message, e.Field = answer.Error.Code, answer.Error.Message, answer.Error.Field
		return e
	}
	e.Code = "internal"
	e.Message = fmt.Sprintf("the server at this address responded %d %s, but not in the format of a cloudburst admin listener: is this the right address?",
		res.StatusCode, http.StatusText(res.StatusCode))
	return e
}

// IsNotFound reports whether err is an [*Error] with the code not-found.
func IsNotFound(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == "not-found"
}

// IsUnreachable reports whether err is an [*UnreachableError].
func IsUnreachable(err error) bool {
	_, ok := errors.AsType[*UnreachableError](err)
	return ok
}
