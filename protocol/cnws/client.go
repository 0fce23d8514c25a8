package cnws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client implements it. A program that calls hosts named
// by unknown clients should use one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client subscribes at publishers and notifies subscribers. The zero value is ready to use.
//
// The errors distinguish what the protocol treats differently: an [*Error] has the status
// of a response without success, [ErrUnreachable] means that no response arrived, and
// [ErrInvalidResponse] means that the response does not follow the protocol. A
// [*FieldError] means that nothing was sent.
type Client struct {
	HTTP      HTTPClient // nil: a client with a timeout of 30 s that follows no redirects
	UserAgent string
	Header    http.Header // additional header fields of every request
}

// Subscribe sends s to the publisher whose endpoint is the URL publisher. A refusal is a Result
// with Status false and a nil error. Subscribing again only confirms the existing subscription.
//
// spec:cnws-2003#subscribe
func (c *Client) Subscribe(ctx context.Context, publisher string, s Subscribe) (Result, error) {
	body, err := s.Marshal()
	if err != nil {
		return Result{}, err
	}
	return c.post(ctx, publisher, body)
}

// Notify notifies the subscriber at url of a change. If wanted is false and err is nil, the
// subscriber has ended the subscription.
//
// spec:cnws-2003#notify
func (c *Client) Notify(ctx context.Context, url string, change Change) (wanted bool, err error) {
	body, err := change.Marshal()
	if err != nil {
		return false, err
	}
	r, err := c.post(ctx, url, body)
	return r.Status && err == nil, err
}

func (c *Client) post(ctx context.Context, url string, body []byte) (Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Result{}, fmt.Errorf("cnws: %w", err)
	}
	maps.Copy(r.Header, c.Header)
	r.Header.Set("Content-Type", ContentType)
	r.Header.Set("Accept", "text/xml, application/xml;q=0.9, */*;q=0.1")
	if c.UserAgent != "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	resp, err := wirehttp.ClientOr(c.HTTP).Do(r)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Result{}, &Error{
			Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header),
			Msg: "The response was " + wirehttp.StatusText(resp.StatusCode) + "." + messageOf(resp),
		}
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return ParseResult(resp.Header.Get("Content-Type"), answer)
}

// messageOf returns the first line of a plain text response, for people.
func messageOf(resp *http.Response) string {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	// After a read error, the beginning of the message is still useful.
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	line, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" Message: %.300q.", line)
}
