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

// HTTPClient sends requests; [*http.Client] implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls procedures of one service. It is safe for concurrent use.
type Client struct {
	// URL is the service's URL.
	URL string
	// Namespace is the namespace of the calls. It may be empty.
	Namespace string
	// Action is the value of SOAPAction. Some servers require a value, which their WSDL
	// states. An empty Action sends an empty SOAPAction.
	Action string
	// Version is the version of SOAP. The default is 1.1.
	Version Version
	// Literal leaves out the types of values.
	Literal bool
	// HTTP sends the requests. Nil means [http.DefaultClient], which has no timeout other
	// than the context's deadline.
	HTTP HTTPClient
	// UserAgent names the program; "" names this package.
	UserAgent string
	// MaxBytes limits the response; zero means 1 MiB.
	MaxBytes int64
}

// HTTPError is a response with a status that is neither 2xx nor that of a fault.
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
	s := fmt.Sprintf("soap: the server answered HTTP status %d %s", e.Status, http.StatusText(e.Status))
	switch {
	case e.Err != nil:
		s += ": " + strings.TrimPrefix(e.Err.Error(), "soap: ")
	case e.Text != "":
		s += ": " + e.Text
	}
	return s
}

// Unwrap returns the fault in the response, or nil.
func (e *HTTPError) Unwrap() error { return e.Err }

// Call calls a procedure and returns its result, or nil for a procedure without a result.
// The error is or wraps a [*Fault] if the procedure failed, an [*HTTPError] for an
// unexpected status, a [*SyntaxError] if the response is invalid, or the error of the
// transport. [ErrValue] means that a parameter cannot be encoded and nothing was sent.
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

// headers sets the header fields that depend on the version, with the action.
//
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

// httpError reads at most 16 KiB of the response body.
func httpError(resp *http.Response) error {
	// After a read error, the beginning of the message is still useful.
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
