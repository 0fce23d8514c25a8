package xmlrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// HTTPClient sends requests; [*http.Client] implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls methods of one server. It is safe for concurrent use.
type Client struct {
	// URL is the server's URL, for example "http://example.com/RPC2".
	URL string
	// HTTP sends the requests. Nil means [http.DefaultClient], which has no timeout other
	// than the context's deadline.
	HTTP HTTPClient
	// UserAgent names the program; "" names this package.
	UserAgent string
	// MaxBytes limits the response; zero means 1 MiB.
	MaxBytes int64
}

// HTTPError is a response with a status other than 2xx.
type HTTPError struct {
	// Status is the HTTP status code.
	Status int
	// Text is the beginning of a plain text response, for people. It may be empty.
	Text string
	// Err is the [*Fault] in the response, or nil.
	Err error
}

// Error returns the status and the server's message.
func (e *HTTPError) Error() string {
	s := fmt.Sprintf("xmlrpc: the server answered HTTP status %d %s", e.Status, http.StatusText(e.Status))
	switch {
	case e.Err != nil:
		s += ": " + strings.TrimPrefix(e.Err.Error(), "xmlrpc: ")
	case e.Text != "":
		s += ": " + e.Text
	}
	return s
}

// Unwrap returns the fault in the response, or nil.
func (e *HTTPError) Unwrap() error { return e.Err }

// Call calls a method and returns its result. The error is or wraps a [*Fault] if the
// method failed, an [*HTTPError] for a status other than 2xx, a [*SyntaxError] if the
// response is invalid, or the error of the transport. [ErrValue] means that a parameter
// cannot be encoded and nothing was sent.
func (c *Client) Call(ctx context.Context, method string, params ...any) (any, error) {
	body, err := Call{Method: method, Params: params}.Marshal()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("xmlrpc: calling %s: %w", method, err)
	}
	// spec:xmlrpc-1999#header
	req.Header.Set("Content-Type", "text/xml; charset=utf-8")
	req.Header.Set("Accept", "text/xml, application/xml;q=0.9, */*;q=0.1")
	req.Header.Set("User-Agent", c.userAgent())
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, fmt.Errorf("xmlrpc: calling %s: %w", method, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, httpError(resp)
	}
	v, err := Decoder{MaxBytes: c.maxBytes(), Charset: xmlsafe.Charset(resp.Header.Get("Content-Type"))}.Response(resp.Body)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// httpError reads at most 4 KiB of the response body.
func httpError(resp *http.Response) error {
	e := &HTTPError{Status: resp.StatusCode}
	// After a read error, the beginning of the message is still useful.
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	var f *Fault
	if _, err := ParseResponse(bytes.NewReader(head)); errors.As(err, &f) {
		e.Err = f
		return e
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		line, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
		e.Text = fmt.Sprintf("%.200q", line)
	}
	return e
}

func (c *Client) http() HTTPClient {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

func (c *Client) userAgent() string {
	if c.UserAgent == "" {
		return "cloudburst-xmlrpc"
	}
	return c.UserAgent
}

func (c *Client) maxBytes() int64 {
	if c.MaxBytes > 0 {
		return c.MaxBytes
	}
	return 1 << 20
}
