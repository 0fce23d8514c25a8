package greader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client calls a server. Base is the URL that users type into an app, without a final slash. Login
// sets Auth. If the server refuses a request, the error is an [*Error].
type Client struct {
	Base string
	HTTP HTTPClient // nil: a client with a timeout of 30 s
	Auth string     // set by Login, or a bearer token

	token string
}

// maxRead is the maximum size of a response, in bytes.
const maxRead = 256 << 20

func (c *Client) do(ctx context.Context, method, path string, query, form url.Values, body io.Reader) ([]byte, error) {
	address := c.Base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("greader: %w", err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.Auth != "" {
		r.Header.Set("Authorization", "GoogleLogin auth="+c.Auth)
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("greader: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxRead))
	if err != nil {
		return nil, fmt.Errorf("greader: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		e := &Error{Status: resp.StatusCode, RetryAfter: wirehttp.RetryAfter(resp.Header), Msg: clip(strings.TrimSpace(string(answer)))}
		if resp.StatusCode == http.StatusUnauthorized {
			return nil, errors.Join(ErrUnauthorized, e)
		}
		return nil, e
	}
	return answer, nil
}

func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("output", "json")
	answer, err := c.do(ctx, http.MethodGet, "/reader/api/0/"+path, query, nil, nil)
	return parsed(answer, err, into)
}

func parsed(answer []byte, err error, into any) error {
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	return err
}

// post sends a request that changes something.
func (c *Client) post(ctx context.Context, path string, form url.Values) error {
	if c.token == "" {
		token, err := c.do(ctx, http.MethodGet, "/reader/api/0/token", nil, nil, nil)
		if err != nil {
			return err
		}
		c.token = string(token)
	}
	form.Set("T", c.token)
	answer, err := c.do(ctx, http.MethodPost, "/reader/api/0/"+path, nil, form, nil)
	if err == nil && string(answer) != "OK" {
		err = fmt.Errorf("greader: the response is %q, not OK", clip(string(answer)))
	}
	return err
}

// Login signs in and sets Auth.
func (c *Client) Login(ctx context.Context, name, password string) error {
	c.Auth, c.token = "", ""
	answer, err := c.do(ctx, http.MethodPost, "/accounts/ClientLogin", nil, url.Values{"Email": {name}, "Passwd": {password}}, nil)
	for line := range strings.Lines(string(answer)) {
		if auth, ok := strings.CutPrefix(line, "Auth="); ok {
			c.Auth = strings.TrimSpace(auth)
		}
	}
	if err == nil && c.Auth == "" {
		err = errors.New("greader: the response has no Auth")
	}
	return err
}

// UserInfo returns the signed-in user.
func (c *Client) UserInfo(ctx context.Context) (u User, err error) {
	err = c.get(ctx, "user-info", nil, &u)
	return u, err
}

// Subscriptions returns the subscriptions.
func (c *Client) Subscriptions(ctx context.Context) ([]Subscription, error) {
	var out struct{ Subscriptions []Subscription }
	err := c.get(ctx, "subscription/list", nil, &out)
	return out.Subscriptions, err
}

// Tags returns the labels and the states of items.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	var out struct{ Tags []Tag }
	err := c.get(ctx, "tag/list", nil, &out)
	return out.Tags, err
}

// Unread returns the number of unread items by stream ID.
func (c *Client) Unread(ctx context.Context) (map[string]int64, error) {
	var out struct{ UnreadCounts []Unread }
	if err := c.get(ctx, "unread-count", nil, &out); err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, u := range out.UnreadCounts {
		counts[u.ID] = u.Count
	}
	return counts, nil
}

// values returns the parameters of a query without its stream.
func (q *Query) values() url.Values {
	v := url.Values{}
	for _, s := range q.Exclude {
		v.Add("xt", s.String())
	}
	for _, s := range q.Include {
		v.Add("it", s.String())
	}
	if !q.After.IsZero() {
		v.Set("ot", strconv.FormatInt(q.After.Unix(), 10))
	}
	if !q.Before.IsZero() {
		v.Set("nt", strconv.FormatInt(q.Before.Unix(), 10))
	}
	if q.Oldest {
		v.Set("r", "o")
	}
	if q.N > 0 {
		v.Set("n", strconv.Itoa(q.N))
	}
	if q.Continuation != "" {
		v.Set("c", q.Continuation)
	}
	return v
}

// IDs returns the IDs of items. next is the continuation, or "" at the end.
func (c *Client) IDs(ctx context.Context, q Query) (list []Ref, next string, err error) {
	v := q.values()
	v.Set("s", q.Stream.String())
	var out struct {
		ItemRefs     []Ref
		Continuation string
	}
	err = c.get(ctx, "stream/items/ids", v, &out)
	return out.ItemRefs, out.Continuation, err
}

// Contents returns items with their content. next is the continuation, or "" at the end.
func (c *Client) Contents(ctx context.Context, q Query) (list []Item, next string, err error) {
	var out struct {
		Items        []Item
		Continuation string
	}
	err = c.get(ctx, "stream/contents/"+url.PathEscape(q.Stream.String()), q.values(), &out)
	return out.Items, out.Continuation, err
}

// Lookup returns the items with the given IDs.
func (c *Client) Lookup(ctx context.Context, ids ...ItemID) ([]Item, error) {
	v := url.Values{}
	for _, id := range ids {
		v.Add("i", id.Long())
	}
	answer, err := c.do(ctx, http.MethodPost, "/reader/api/0/stream/items/contents", url.Values{"output": {"json"}}, v, nil)
	var out struct{ Items []Item }
	err = parsed(answer, err, &out)
	return out.Items, err
}

// Mark adds items to a state such as [Read] or [Starred], or removes them from it if in is
// false.
func (c *Client) Mark(ctx context.Context, state string, in bool, ids ...ItemID) error {
	v := url.Values{}
	for _, id := range ids {
		v.Add("i", id.String())
	}
	name := "a"
	if !in {
		name = "r"
	}
	v.Set(name, State(state).String())
	return c.post(ctx, "edit-tag", v)
}

// MarkAllRead marks the items of a stream as read, up to the time to (zero: all items).
func (c *Client) MarkAllRead(ctx context.Context, s Stream, to time.Time) error {
	v := url.Values{"s": {s.String()}}
	if !to.IsZero() {
		v.Set("ts", strconv.FormatInt(to.UnixMicro(), 10))
	}
	return c.post(ctx, "mark-all-as-read", v)
}

// Subscribe subscribes to a feed, with optional title and labels.
func (c *Client) Subscribe(ctx context.Context, feed, title string, labels ...string) error {
	v := url.Values{"ac": {"subscribe"}, "s": {Feed(feed).String()}, "t": {title}}
	for _, l := range labels {
		v.Add("a", Label(l).String())
	}
	return c.post(ctx, "subscription/edit", v)
}

// QuickAdd subscribes to the feed at a URL, or to the feed of the page there.
func (c *Client) QuickAdd(ctx context.Context, address string) (a QuickAddResult, err error) {
	answer, err := c.do(ctx, http.MethodPost, "/reader/api/0/subscription/quickadd", nil, url.Values{"quickadd": {address}}, nil)
	err = parsed(answer, err, &a)
	return a, err
}

// Edit changes the title of a subscription ("": unchanged), and adds and removes labels. id
// is its stream ID.
func (c *Client) Edit(ctx context.Context, id, title string, add, remove []string) error {
	v := url.Values{"ac": {"edit"}, "s": {id}, "t": {title}}
	for _, l := range add {
		v.Add("a", Label(l).String())
	}
	for _, l := range remove {
		v.Add("r", Label(l).String())
	}
	return c.post(ctx, "subscription/edit", v)
}

// Unsubscribe ends subscriptions by their stream IDs.
func (c *Client) Unsubscribe(ctx context.Context, ids ...string) error {
	return c.post(ctx, "subscription/edit", url.Values{"ac": {"unsubscribe"}, "s": ids})
}

// RenameLabel renames a label.
func (c *Client) RenameLabel(ctx context.Context, from, to string) error {
	return c.post(ctx, "rename-tag", url.Values{"s": {Label(from).String()}, "dest": {Label(to).String()}})
}

// RemoveLabels removes labels. The subscriptions stay.
func (c *Client) RemoveLabels(ctx context.Context, names ...string) error {
	v := url.Values{}
	for _, l := range names {
		v.Add("s", Label(l).String())
	}
	return c.post(ctx, "disable-tag", v)
}

// Export returns the subscriptions as OPML.
func (c *Client) Export(ctx context.Context) ([]byte, error) {
	return c.do(ctx, http.MethodGet, "/reader/api/0/subscription/export", nil, nil, nil)
}

// Import subscribes to the feeds of an OPML document.
func (c *Client) Import(ctx context.Context, opml []byte) error {
	_, err := c.do(ctx, http.MethodPost, "/reader/api/0/subscription/import", nil, nil, bytes.NewReader(opml))
	return err
}
