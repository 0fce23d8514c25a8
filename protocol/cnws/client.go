package cnws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client is one. A program that calls hosts which
// strangers name gives one that refuses private addresses.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client subscribes at publishers and tells subscribers. The zero value works.
//
// Errors tell apart what the protocol treats differently: an [*Error] has the
// status of an answer that is no success; [ErrUnreachable] means that no answer
// came; [ErrInvalidResponse] that what answered does not speak this protocol. A
// [*FieldError] means that nothing was sent.
type Client struct {
	HTTP      HTTPClient // nil: one with a time limit of 30 s that follows no redirect
	UserAgent string
	Header    http.Header // further fields of every request
}

// Subscribe asks the publisher whose door is at door. A refusal is a Result that
// is false and a nil error. To subscribe again changes nothing and is how a
// subscription is confirmed.
//
// spec:cnws-2003#subscribe
func (c *Client) Subscribe(ctx context.Context, door string, s Subscribe) (Result, error) {
	body, err := s.Marshal()
	if err != nil {
		return Result{}, err
	}
	return c.post(ctx, door, body)
}

// Notify tells the subscriber at url of a change. With wanted false and no error he
// wants no more of it and leaves the list.
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
	for name, values := range c.Header {
		r.Header[name] = values
	}
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
			Msg: "The answer was " + wirehttp.StatusText(resp.StatusCode) + "." + said(resp),
		}
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return ParseResult(resp.Header.Get("Content-Type"), answer)
}

// said is the first line of an answer that is plain text, for people.
func said(resp *http.Response) string {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	// What can be read of it is all there is to show.
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	line, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" It said %.300q.", line)
}
