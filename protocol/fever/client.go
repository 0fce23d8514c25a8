package fever

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// HTTPClient sends requests; *http.Client implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls a server. Its field URL is the URL of the API, for example
// http://example.com/fever/.
type Client struct {
	URL  string
	Key  string     // see [Key]
	HTTP HTTPClient // nil: a client with a timeout of 30 s
}

// Send sends a request. query names the requested data, for example "groups" or "items&since_id=7".
// form contains the changes and may be nil. The error is [ErrKey], an [*Error], or the error of the
// transport.
func (c *Client) Send(ctx context.Context, query string, form url.Values) (*Response, error) {
	body := url.Values{"api_key": {c.Key}}
	maps.Copy(body, form)
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

// maxRead is the maximum size of a response, in bytes.
const maxRead = 64 << 20

// Mark marks an item, a feed or a group (what) as read, unread, saved or unsaved (as).
// before limits the items of a feed or group by their time of arrival; zero: all items.
func (c *Client) Mark(ctx context.Context, what, as string, id int64, before time.Time) (*Response, error) {
	form := url.Values{"mark": {what}, "as": {as}, "id": {fmt.Sprint(id)}}
	if !before.IsZero() {
		form.Set("before", fmt.Sprint(before.Unix()))
	}
	return c.Send(ctx, "", form)
}
