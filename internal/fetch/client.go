package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
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
	MaxBody        int64         // after decoding [5 MiB]
	MaxRedirects   int           // [5]
	Bucket         time.Duration // failures are told at multiples of it [250 ms]; negative: at once
	Resolver       *net.Resolver // [the built-in one, never the C library's]
	TLSConfig      *tls.Config   // [the system's roots]
	Dial           Dial          // tests only
}

// Request is what to read.
type Request struct {
	URL                string
	ETag, LastModified string // validators byte for byte as the last answer gave them; "" sends none
	Accept             string // [*/*]
	Header             http.Header
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
	NotModified bool // 304 to a request with validators
	Header      http.Header
	Body        []byte // decoded; nil with NotModified
	URL         string // where the redirects ended, without user name
	Redirects   []Redirect
	SentAt      time.Time // when the first request was about to leave
}

// OK reports a status of the 200s.
func (r *Response) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Client reads feeds. It keeps no cookies, sends no Referer and uses no proxy.
type Client struct {
	opts Options
}

// New makes a Client.
func New(o Options) *Client { return &Client{opts: o} }

// Get reads one URL.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	return nil, fail(Ours, context.Canceled)
}

// CloseIdle closes the connections that are kept open.
func (c *Client) CloseIdle() {}
