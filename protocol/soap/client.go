package soap

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// HTTPClient sends requests; [*http.Client] is one.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls procedures of one service. It may be used by several
// goroutines.
type Client struct {
	// URL is the service's address.
	URL string
	// Namespace is the namespace of the calls; it may be empty.
	Namespace string
	// Action is sent as SOAPAction; servers that look at it say in their
	// WSDL what it must be. Empty sends an empty one.
	Action string
	// Version of SOAP to speak; 1.1 by default.
	Version Version
	// Literal leaves the types of values out.
	Literal bool
	// HTTP sends the requests; nil means [http.DefaultClient], which waits
	// for an answer as long as the context does.
	HTTP HTTPClient
	// UserAgent names the program; empty means this package.
	UserAgent string
	// MaxBytes limits the answer; zero means 1 MiB.
	MaxBytes int64
}

// HTTPError is an answer with a status that is neither 2xx nor that of a
// fault.
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
	s := fmt.Sprintf("soap: the server answered HTTP status %d %s", e.Status, http.StatusText(e.Status))
	switch {
	case e.Err != nil:
		s += ": " + strings.TrimPrefix(e.Err.Error(), "soap: ")
	case e.Text != "":
		s += ": " + e.Text
	}
	return s
}

// Unwrap gives the fault, if any.
func (e *HTTPError) Unwrap() error { return e.Err }

// Call calls a procedure and gives its result, which is nil when there is
// none. The error is or wraps a [*Fault] when the procedure failed, an
// [*HTTPError] for a status that is no answer, a [*SyntaxError] when the
// answer cannot be read, [ErrValue] when a parameter cannot be sent (nothing
// was sent then), or else the error of the transport.
func (c *Client) Call(ctx context.Context, name string, params ...Param) (any, error) {
	body, err := Call{Name: name, Namespace: c.Namespace, Params: params, Version: c.Version, Literal: c.Literal}.Marshal()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("soap: calling %s: %w", name, err)
	}
	c.headers(req.Header)
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, fmt.Errorf("soap: calling %s: %w", name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, httpError(resp)
	}
	max := c.MaxBytes
	if max <= 0 {
		max = 1 << 20
	}
	if resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent {
		return nil, nil
	}
	answer, err := Decoder{MaxBytes: max, Charset: xmlsafe.Charset(resp.Header.Get("Content-Type"))}.Response(resp.Body)
	if err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// headers names the action where the version wants it.
// spec:soap11-2000#soap-action
func (c *Client) headers(h http.Header) {
	h.Set("Content-Type", contentType(c.Version))
	if c.Version == V11 {
		h["SOAPAction"] = []string{strconv.Quote(c.Action)}
	} else if c.Action != "" {
		h.Set("Content-Type", contentType(V12)+"; action="+strconv.Quote(c.Action))
	}
	h.Set("Accept", "application/soap+xml, text/xml, application/xml;q=0.9, */*;q=0.1")
	agent := c.UserAgent
	if agent == "" {
		agent = "cloudburst-soap"
	}
	h.Set("User-Agent", agent)
}

// httpError reads at most 16 KiB of what came with the status.
func httpError(resp *http.Response) error {
	// What can be read of it is all there is to show.
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	_, err := ParseResponse(bytes.NewReader(head))
	f := asFault(err)
	if f != nil && (resp.StatusCode == 500 || resp.StatusCode == 400) {
		return f
	}
	e := &HTTPError{Status: resp.StatusCode}
	if f != nil {
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
