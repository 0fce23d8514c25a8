package fever

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// HTTPClient sends requests; *http.Client is one.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client asks a server. URL is the API's address, such as http://example.com/fever/.
type Client struct {
	URL  string
	Key  string     // see [Key]
	HTTP HTTPClient // nil: one with a time limit of 30 s
}

// Send sends a request: query is what is asked for, such as "groups" or "items&since_id=7";
// form is what is changed, and may be nil. Errors: [ErrKey], [*Error].
func (c *Client) Send(ctx context.Context, query string, form url.Values) (*Response, error) {
	body := url.Values{"api_key": {c.Key}}
	for name, list := range form {
		body[name] = list
	}
	address := c.URL + "?api"
	if query != "" {
		address += "&" + query
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body.Encode()))
	if err != nil {
		return nil, fmt.Errorf("fever: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fever: %w", err)
	}
	defer resp.Body.Close()
	var a Response
	err = json.NewDecoder(io.LimitReader(resp.Body, maxRead)).Decode(&a)
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, &Error{Status: resp.StatusCode, Msg: a.ErrorMessage}
	case err != nil:
		return nil, fmt.Errorf("fever: %w", err)
	case a.Auth != 1:
		return nil, ErrKey
	}
	return &a, nil
}

// mostRead bounds an answer.
const maxRead = 64 << 20

// Mark marks an item, a feed or a group; before is for the latter two (zero: all).
func (c *Client) Mark(ctx context.Context, what, as string, id int64, before time.Time) (*Response, error) {
	form := url.Values{"mark": {what}, "as": {as}, "id": {fmt.Sprint(id)}}
	if !before.IsZero() {
		form.Set("before", fmt.Sprint(before.Unix()))
	}
	return c.Send(ctx, "", form)
}
