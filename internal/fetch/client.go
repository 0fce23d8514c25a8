package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Dial makes one connection to address, "host:port". Tests use a Dial in place of the guarded
// dialer; it must call [Guard.Control] itself.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options configure a [Client]. Zero fields mean the default in brackets.
type Options struct {
	Guard          *Guard        // which addresses are allowed [the public internet]
	UserAgent      string        // [none is sent]
	Timeout        time.Duration // time limit for one Get with all its redirects [20 s]
	ConnectTimeout time.Duration // time limit for name resolution and connection [5 s]
	HeaderTimeout  time.Duration // time limit from the request to the end of the response head [10 s]
	MaxBody        int64         // limit for the encoded and the decoded body, in bytes [5 MiB]
	MaxRedirects   int           // maximum number of followed redirects [5]; negative: none
	Bucket         time.Duration // failures return at multiples of this duration [250 ms]; negative: immediately
	Idle           int           // maximum number of idle connections in total [64]
	IdlePerHost    int           // maximum number of idle connections per host [2]
	Resolver       *net.Resolver // resolver for names [the resolver of package net, never the C library's]
	TLSConfig      *tls.Config   // [the root certificates of the system]
	Dial           Dial          // tests only
}

func (o Options) withDefaults() Options {
	if o.Guard == nil {
		o.Guard = &Guard{}
	}
	o.Timeout = cmp.Or(o.Timeout, 20*time.Second)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 5*time.Second)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 10*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 5<<20)
	o.MaxRedirects = cmp.Or(o.MaxRedirects, 5)
	o.Bucket = cmp.Or(o.Bucket, 250*time.Millisecond)
	o.Idle = cmp.Or(o.Idle, 64)
	o.IdlePerHost = cmp.Or(o.IdlePerHost, 2)
	return o
}

// Request describes a document to read.
type Request struct {
	// URL is an http or https URL. A user name and password in URL are sent as Basic authentication
	// to its host only. They appear in no log and no Response.
	URL                string
	ETag, LastModified string // validators exactly as the last response sent them; "" sends none, see [Validator]
	// ValidatorsURL is the only URL that receives the validators, because they belong to one
	// document. "" sends them with each request of a redirect chain.
	ValidatorsURL string
	Accept        string // header Accept [*/*]
	UserAgent     string // header User-Agent [Options.UserAgent]
	// Revalidate makes caches between client and server query the server.
	Revalidate bool
	// Header contains further header fields. Authorization and Cookie are sent only to the URL's
	// own origin.
	Header http.Header
	// Private is like Header, but all its fields are sent only to the URL's own origin and are
	// omitted from Trace.
	Private http.Header
	Trace   *Trace // records the requests and responses; may be nil

	method string // method of the request; "" means GET
	first  int64  // number of raw bytes of the body to read; 0: all
}

// Redirect is one followed redirect.
type Redirect struct {
	Status    int
	From, To  string // absolute URLs without user name and password
	Downgrade bool   // the redirect leads from https to http
}

// Response is a response of any status. It is not a redirect that Get followed.
type Response struct {
	Status      int
	NotModified bool // the status is 304, and the request had validators
	Header      http.Header
	Body        []byte // decoded; nil if NotModified
	URL         string // URL after all redirects, without user name and password
	Redirects   []Redirect
	SentAt      time.Time // time just before the first request was sent
}

// OK reports whether the status is 2xx.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Client reads feeds. It stores no cookies, sends no Referer, uses no proxy, and accepts no content
// codings except gzip, brotli and deflate.
type Client struct {
	opts Options
	http *http.Transport

	unpack sync.Pool // contains *gzip.Reader
}

// New makes a Client.
func New(o Options) *Client {
	o = o.withDefaults()
	d := newDialer(o.Guard, o.Resolver, o.Dial)
	d.net.Timeout = o.ConnectTimeout
	return &Client{opts: o, http: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if d.hook != nil {
				c, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
				defer cancel()
				ctx = c
			}
			return d.dial(ctx, network, address)
		},
		TLSClientConfig:        tlsConfig(o.TLSConfig, 64),
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ResponseHeaderTimeout:  o.HeaderTimeout,
		MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize:        1 << 10, // enough for a request without a body
		DisableCompression:     true,    // Client decodes bodies itself, so that it can limit their size
		MaxIdleConns:           o.Idle,
		MaxIdleConnsPerHost:    o.IdlePerHost,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}}
}

// CloseIdle closes the idle connections.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Get reads one URL, follows redirects, and decodes the body. The error is an *Error. A response
// with any status is a Response, not an error. Failures without a response return at the next
// multiple of Options.Bucket.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	start := time.Now()
	inner, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	res, err := c.get(inner, &r)
	if err == nil {
		return res, nil
	}
	if ctx.Err() == nil && !KindOf(err).independentOfTarget() {
		sleep(ctx, untilNextBucket(time.Since(start), c.opts.Bucket))
	}
	return nil, err
}

func (c *Client) get(ctx context.Context, r *Request) (*Response, error) {
	out := &Response{URL: Redact(r.URL)}
	at, err := c.parse(r.URL)
	if err != nil {
		return nil, withURL(err, r.URL)
	}
	first := at
	user := userOf(r.URL)
	conditional := false // reports whether the last request had validators
	for {
		isOwn := at.host == first.host && at.port == first.port && at.https == first.https
		req := r.request(ctx, &at, cmp.Or(r.UserAgent, c.opts.UserAgent), user, isOwn)
		conditional = r.validate(req, out.URL)
		r.Trace.send(req, r)
		if out.SentAt.IsZero() {
			out.SentAt = time.Now()
		}
		res, err := c.roundTrip(req)
		if err != nil {
			return nil, withURL(classify(ctx, err), out.URL)
		}
		r.Trace.receive(res)
		next := redirection(res)
		if next == "" {
			if err := c.finish(ctx, r, conditional, res, out); err != nil {
				return nil, err
			}
			return out, nil
		}
		res.Body.Close()
		if len(out.Redirects) >= c.opts.MaxRedirects {
			return nil, withURL(&Error{Kind: TooManyRedirects, Text: fmt.Sprintf("led from redirect to redirect, more than %d times", c.opts.MaxRedirects)}, r.URL)
		}
		to, target, err := c.follow(out.URL, &at, next)
		if err != nil {
			return nil, withURL(err, out.URL)
		}
		out.Redirects = append(out.Redirects, Redirect{Status: res.StatusCode, From: out.URL, To: to, Downgrade: at.https && !target.https})
		out.URL, at, user = to, target, nil
	}
}

// roundTrip sends one request. If this machine is out of sockets, roundTrip closes the idle
// connections and tries once more.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.http.RoundTrip(req)
	if err != nil && exhausted(err) {
		c.http.CloseIdleConnections()
		return c.http.RoundTrip(req)
	}
	return res, err
}

func (c *Client) parse(raw string) (target, error) {
	t, err := splitURL(raw)
	if err == nil {
		err = c.opts.Guard.checkTarget(&t)
	}
	return t, err
}

// follow resolves the Location of a redirect. Servers put spaces and other bytes into it that are
// invalid in a URL. Browsers repair such URLs, and follow does the same.
func (c *Client) follow(from string, at *target, location string) (string, target, error) {
	base, err := url.Parse(from)
	if err != nil { // the path has bytes that net/url rejects
		base = at.url()
		base.Opaque, base.Path = "", "/"
	}
	u, err := base.Parse(location)
	if err != nil {
		return "", target{}, malformed("redirect to %.200q", Redact(location))
	}
	u.User = nil
	u.Fragment, u.RawFragment = "", ""
	u.RawQuery = strings.ReplaceAll(u.RawQuery, " ", "%20")
	to := u.String()
	t, err := c.parse(to)
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == BadURL {
		// The server chose this URL, so the client must not learn the URL or what is wrong with it.
		err = fail(Refused, fmt.Errorf("redirect to %.200q, which %s", to, e.Text))
	}
	return to, t, err
}

// redirection returns the Location of a redirect that can be followed with a GET, or "" for any
// other response.
func redirection(res *http.Response) string {
	switch res.StatusCode {
	case 301, 302, 303, 307, 308:
		return strings.TrimSpace(res.Header.Get("Location"))
	}
	return ""
}

func userOf(raw string) *url.Userinfo {
	if Redact(raw) == raw {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return u.User
}

// request builds the request for t, one URL of a redirect chain. own means that t may receive the
// credentials of r.
func (r *Request) request(ctx context.Context, t *target, agent string, user *url.Userinfo, isOwn bool) *http.Request {
	h := make(http.Header, 6+len(r.Header)+len(r.Private))
	for name, values := range r.Header {
		name = http.CanonicalHeaderKey(name)
		if isOwn || name != "Authorization" && name != "Cookie" {
			h[name] = values
		}
	}
	if isOwn {
		for name, values := range r.Private {
			h[http.CanonicalHeaderKey(name)] = values
		}
	}
	if r.Revalidate {
		// spec:rfc9111#no-cache-request
		h["Cache-Control"], h["Pragma"] = []string{"no-cache"}, []string{"no-cache"}
	}
	h["User-Agent"] = []string{agent}
	h["Accept"] = []string{r.Accept}
	if r.Accept == "" {
		h["Accept"] = []string{"*/*"}
	}
	// spec:feedstate-2007#gzip
	h["Accept-Encoding"] = []string{"gzip, br, deflate"}
	if r.first > 0 {
		h["Accept-Encoding"] = []string{"identity"}
	}
	if r.first > 0 && r.method == "" {
		h["Range"] = []string{fmt.Sprintf("bytes=0-%d", r.first-1)}
	}
	req := (&http.Request{
		Method: cmp.Or(r.method, "GET"), URL: t.url(), Host: t.shown, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req
}

// validate adds the validators to the request for url if they belong to it, and reports whether it
// added any.
func (r *Request) validate(req *http.Request, url string) bool {
	if r.ValidatorsURL != "" && Redact(r.ValidatorsURL) != url {
		return false
	}
	tag, date := Validator(r.ETag), Validator(r.LastModified)
	if tag != "" {
		req.Header["If-None-Match"] = []string{tag}
	}
	if date != "" {
		req.Header["If-Modified-Since"] = []string{date}
	}
	return tag+date != ""
}

// MaxValidator is the maximum length, in bytes, of a stored ETag or Last-Modified. The length is
// limited because each request for the feed contains both.
const MaxValidator = 1 << 10

// Validator returns an ETag or Last-Modified unchanged, or "" if the value is longer than
// [MaxValidator], contains bytes that are invalid in a header field, or is *, which as If-None-Match
// means any version.
//
// spec:cloudburst#validator-limit
func Validator(value string) string {
	if len(value) > MaxValidator || !isValue(value) || strings.TrimSpace(value) == "*" {
		return ""
	}
	return value
}

// finish reads the final response into out. conditional means that the request had validators.
func (c *Client) finish(ctx context.Context, r *Request, conditional bool, res *http.Response, out *Response) error {
	defer res.Body.Close()
	out.Status, out.Header = res.StatusCode, res.Header
	if res.StatusCode == http.StatusNotModified {
		out.NotModified = conditional
		return nil
	}
	if r.first > 0 {
		out.Body = readFirst(res.Body, r.first)
		return nil
	}
	body, err := readBody(res, c.opts.MaxBody, &c.unpack)
	if err != nil {
		return withURL(classify(ctx, err), out.URL)
	}
	out.Body = body
	return nil
}
