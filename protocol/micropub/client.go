package micropub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"cloudburst/internal/wirehttp"
)

// HTTPClient sends requests; *http.Client implements it.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Client writes posts at one endpoint for the user of the token. It is safe for concurrent
// use if HTTP is. A refusal of the server is an [*Error].
type Client struct {
	Endpoint string     // URL of the endpoint; may have a query
	Token    string     // sent in the Authorization header
	HTTP     HTTPClient // nil: a client without a timeout, so set a deadline in the context
}

// Create creates a post and returns its URL. The post may become available a little later.
func (c *Client) Create(ctx context.Context, r *Request) (string, error) {
	out := *r
	out.Action = Create
	res, err := c.post(ctx, &out)
	if err != nil {
		return "", err
	}
	return location(res)
}

// Update changes a post and returns its URL, which may be a new one.
func (c *Client) Update(ctx context.Context, r *Request) (string, error) {
	out := *r
	out.Action = Update
	return c.change(ctx, &out)
}

// Delete deletes a post.
func (c *Client) Delete(ctx context.Context, url string) error {
	_, err := c.change(ctx, &Request{Action: Delete, URL: url})
	return err
}

// Undelete restores a deleted post and returns its URL, which may be a new one.
func (c *Client) Undelete(ctx context.Context, url string) (string, error) {
	return c.change(ctx, &Request{Action: Undelete, URL: url})
}

func (c *Client) change(ctx context.Context, r *Request) (string, error) {
	res, err := c.post(ctx, r)
	if err != nil {
		return "", err
	}
	if res.StatusCode == http.StatusCreated {
		return location(res)
	}
	return r.URL, nil
}

// location returns the URL of a post from the Location of a response.
func location(res *http.Response) (string, error) {
	at, err := res.Location()
	if err != nil {
		return "", fmt.Errorf("micropub: the server answered %d without a valid Location: %w", res.StatusCode, err)
	}
	return at.String(), nil
}

// post sends a request. It uses a form where possible, because every server accepts forms.
func (c *Client) post(ctx context.Context, r *Request) (*http.Response, error) {
	if form, ok := r.Form(); ok {
		return c.send(ctx, http.MethodPost, c.Endpoint, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), nil)
	}
	b, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, c.Endpoint, "application/json", bytes.NewReader(b), nil)
}

// Form returns the request as a form. It returns false if the request cannot be a form.
func (r *Request) Form() (url.Values, bool) {
	v := url.Values{}
	switch r.Action {
	case Delete, Undelete:
		return url.Values{"action": {string(r.Action)}, "url": {r.URL}}, len(r.Commands) == 0
	case Create, "":
	default:
		return nil, false
	}
	kind, ok := strings.CutPrefix(r.Type, "h-")
	if r.Type == "" {
		kind, ok = "entry", true
	}
	v.Set("h", kind)
	for _, p := range []Properties{r.Properties, r.Commands} {
		for name, values := range p {
			field := name
			if len(values) > 1 {
				field += "[]"
			}
			for _, value := range values {
				if value.Text == "" || !value.Equal(Text(value.Text)) || value.Alt != "" || value.HTML != "" {
					return nil, false
				}
				v.Add(field, value.Text)
			}
			switch name {
			case "h", "action", fieldToken:
				return nil, false // a form cannot express this request
			}
			if strings.HasSuffix(name, "[]") || isContentPart(name) {
				return nil, false
			}
		}
	}
	return v, ok
}

// Config returns the configuration of the server.
func (c *Client) Config(ctx context.Context) (Config, error) {
	var out Config
	err := c.get(ctx, c.Endpoint, url.Values{"q": {"config"}}, &out)
	return out, err
}

// Source returns a post in its editable form. properties restricts it to these properties;
// none means all.
func (c *Client) Source(ctx context.Context, at string, properties ...string) (Object, error) {
	var out Object
	v := ListQuery{Properties: properties}.values()
	v.Set("q", "source")
	v.Set("url", at)
	err := c.get(ctx, c.Endpoint, v, &out)
	return out, err
}

// Posts lists posts. It is an extension that not all servers support.
func (c *Client) Posts(ctx context.Context, q ListQuery) ([]Object, error) {
	var out struct {
		Items []Object `json:"items"`
	}
	v := q.values()
	v.Set("q", "source")
	err := c.get(ctx, c.Endpoint, v, &out)
	return out.Items, err
}

// Categories lists the categories whose names contain filter.
func (c *Client) Categories(ctx context.Context, filter string) ([]string, error) {
	var out struct {
		Categories []string `json:"categories"`
	}
	v := url.Values{"q": {"category"}}
	if filter != "" {
		v.Set("filter", filter)
	}
	err := c.get(ctx, c.Endpoint, v, &out)
	return out.Categories, err
}

// Upload uploads a file to a media endpoint, see [Config], and returns its URL.
func (c *Client) Upload(ctx context.Context, endpoint string, f *Upload) (string, error) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		head := textproto.MIMEHeader{}
		head.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": f.Name}))
		kind := cmp.Or(f.Type, "application/octet-stream")
		head.Set("Content-Type", kind)
		part, err := form.CreatePart(head)
		if err == nil {
			_, err = io.Copy(part, f.Reader)
		}
		if err == nil {
			err = form.Close()
		}
		_ = w.CloseWithError(err) // always returns nil
	}()
	res, err := c.send(ctx, http.MethodPost, endpoint, form.FormDataContentType(), r, nil)
	_ = r.Close() // always returns nil; makes the writing goroutine end
	if err != nil {
		return "", err
	}
	return location(res)
}

func (c *Client) get(ctx context.Context, endpoint string, query url.Values, out any) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return fmt.Errorf("micropub: %q is not a URL: %w", endpoint, err)
	}
	// Keep the query that the endpoint's URL may have.
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	_, err = c.send(ctx, http.MethodGet, u.String(), "", nil, out)
	return err
}

// send sends a request and decodes the JSON of the response into out, unless out is nil.
func (c *Client) send(ctx context.Context, method, target, kind string, body io.Reader, out any) (*http.Response, error) {
	if !isToken(c.Token) {
		return nil, errors.New("micropub: the token is empty or has an invalid character")
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("micropub: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	h := c.HTTP
	if h == nil {
		h = &http.Client{}
	}
	res, err := h.Do(req)
	if err != nil {
		return nil, fmt.Errorf("micropub: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("micropub: the response is incomplete: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return nil, readError(res, answer)
	}
	if out == nil {
		return res, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return nil, fmt.Errorf("micropub: the response is invalid: %w", err)
	}
	return res, nil
}

func readError(res *http.Response, answer []byte) error {
	e := &Error{Status: res.StatusCode, RetryAfter: wirehttp.RetryAfter(res.Header)}
	var in errorJSON
	if json.Unmarshal(answer, &in) == nil {
		e.Code, e.Description, e.Scope = in.Error, in.Description, in.Scope
	}
	return e
}
