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

// Dial makes one connection to address, "host:port". In tests it stands in for
// the guarded dialer; the guard's Control is then the test's business.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options of a [Client]. Zero fields mean the default in brackets.
type Options struct {
	Guard          *Guard        // what may be reached [the public internet]
	UserAgent      string        // [none is sent]
	Timeout        time.Duration // one Get with all its redirects [20 s]
	ConnectTimeout time.Duration // name look-up and connection [5 s]
	HeaderTimeout  time.Duration // from the request to the end of the head [10 s]
	MaxBody        int64         // as it comes, and after decoding [5 MiB]
	MaxRedirects   int           // [5]; negative: none
	Bucket         time.Duration // failures are told at multiples of it [250 ms]; negative: at once
	Idle           int           // connections that are kept open [64]
	IdlePerHost    int           // of one host [2]
	Resolver       *net.Resolver // [the built-in one, never the C library's]
	TLSConfig      *tls.Config   // [the system's roots]
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

// Request is what to read.
type Request struct {
	// URL is http or https. A user name and password in it are sent as Basic
	// authentication to that host only, and appear in no log and no Response.
	URL                string
	ETag, LastModified string // validators byte for byte as the last answer gave them; "" sends none, see [Validator]
	// ValidatorsURL is the only one that the validators go to: they are another
	// document's anywhere else. "" sends them to each hop.
	ValidatorsURL string
	Accept        string // [*/*]
	UserAgent     string // [the Client's]
	// Revalidate asks caches on the way not to answer without asking the origin.
	Revalidate bool
	// Header is sent as well, Authorization and Cookie only to the URL's own origin.
	Header http.Header
	// Private is like Header; all of it goes to the URL's own origin only, and into no Trace.
	Private http.Header
	Trace   *Trace // is told what was sent and received; nil: nobody wants to know

	method string // "" is GET
	first  int64  // bytes of the body that are wanted, as they come; 0: all of it
}

// Redirect is one hop on the way.
type Redirect struct {
	Status    int
	From, To  string // absolute URLs without user names
	Downgrade bool   // from https to http
}

// Response is an answer, of any status but a followed redirect's.
type Response struct {
	Status      int
	NotModified bool // 304 to a request that had validators
	Header      http.Header
	Body        []byte // decoded; nil with NotModified
	URL         string // where the redirects ended, without user name
	Redirects   []Redirect
	SentAt      time.Time // when the first request was about to leave
}

// OK reports a status of the 200s.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Client reads feeds. It keeps no cookies, sends no Referer, uses no proxy, and
// asks for no coding of the body other than gzip, brotli and deflate.
type Client struct {
	opts Options
	http *http.Transport

	unpack sync.Pool // of gzip.Reader
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
		DisableCompression:     true, // decoded here, where it can be limited
		MaxIdleConns:           o.Idle,
		MaxIdleConnsPerHost:    o.IdlePerHost,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}}
}

// CloseIdle closes the connections that are kept open.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Get reads one URL, over redirects, and decodes the body. The error is an
// *Error; any answer with a status is a Response and not an error. Failures in
// which no server answered come back at the next multiple of the bucket of time.
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
	conditional := false // the last request had validators
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

// roundTrip asks once. When this machine is out of sockets it gives up the kept
// connections and asks once more.
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

// follow resolves a Location. Servers put blanks and other bytes into it that no
// URL may have; browsers mend them, and so do we.
func (c *Client) follow(from string, at *target, location string) (string, target, error) {
	base, err := url.Parse(from)
	if err != nil { // its path has bytes that net/url does not take
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
		// What a server sends us to is not the asker's doing, and what is wrong
		// with it not the asker's to know.
		err = fail(Refused, fmt.Errorf("redirect to %.200q, which %s", to, e.Text))
	}
	return to, t, err
}

// redirection is the Location of a redirect that can be followed with a GET.
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

// request is r for the hop t; own says that t may see r's credentials.
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

// validate adds the validators to the request of url, if it is the one that they belong
// to, and reports whether there are any now.
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

// MaxValidator is the length, in bytes, of the longest ETag or Last-Modified that is kept
// and sent back. Each request for the feed would carry it.
const MaxValidator = 1 << 10

// Validator is an ETag or Last-Modified as it was given, or "" when it is longer than
// [MaxValidator] or no header field can hold it.
//
// spec:cloudburst#validator-limit
func Validator(value string) string {
	if len(value) > MaxValidator || !isValue(value) {
		return ""
	}
	return value
}

// finish reads the final answer into out; asked says that the request had validators.
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
