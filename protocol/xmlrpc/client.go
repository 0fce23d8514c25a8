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

// HTTPClient sends requests; [*http.Client] is one.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls methods of one server. It may be used by several goroutines.
type Client struct {
	// URL is the server's address, such as "http://example.com/RPC2".
	URL string
	// HTTP sends the requests; nil means [http.DefaultClient], which waits
	// for an answer as long as the context does.
	HTTP HTTPClient
	// UserAgent names the program; empty means this package.
	UserAgent string
	// MaxBytes limits the answer; zero means 1 MiB.
	MaxBytes int64
}

// HTTPError is an answer with a status other than 2xx.
type HTTPError struct {
	// Status is the status code.
	Status int
	// Text is the beginning of the answer when it was plain text, for
	// people.
	Text string
	// Err is the [*Fault] when there was one in the answer, else nil.
	Err error
}

// Error gives the status and what the server said.
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

// Unwrap gives the fault, if any.
func (e *HTTPError) Unwrap() error { return e.Err }

// Call calls a method and gives its result. The error is or wraps a [*Fault]
// when the method failed, an [*HTTPError] for another status than 2xx, a
// [*SyntaxError] when the answer cannot be read, [ErrValue] when a parameter
// cannot be sent (nothing was sent then), or else the error of the transport.
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

// httpError reads at most 4 KiB of what came with the status.
func httpError(resp *http.Response) error {
	e := &HTTPError{Status: resp.StatusCode}
	// What can be read of it is all there is to show.
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
