package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// DoerOptions configure a [Doer]. Zero fields mean the default in brackets.
type DoerOptions struct {
	Guard          *Guard        // which addresses are allowed [the public internet]
	UserAgent      string        // User-Agent of requests that have none [none is sent]
	Timeout        time.Duration // time limit for one request, until the response body is read [30 s]
	ConnectTimeout time.Duration // time limit for name resolution and connection [5 s]
	HeaderTimeout  time.Duration // time limit from the request to the end of the response head [20 s]
	MaxBody        int64         // maximum bytes of a response body [1 MiB]
	Resolver       *net.Resolver // resolver for names [the resolver of package net, never the C library's]
	TLSConfig      *tls.Config   // [the root certificates of the system]
	Dial           Dial          // tests only
}

// Doer sends requests that other packages have built. The protocol clients use it as their guarded
// HTTP client. It follows no redirect, stores no cookies, uses no proxy and decodes no body.
type Doer struct {
	opts DoerOptions
	http *http.Transport
}

// NewDoer makes a Doer.
func NewDoer(o DoerOptions) *Doer {
	if o.Guard == nil {
		o.Guard = &Guard{Callback: true}
	}
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 5*time.Second)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 20*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	d := newDialer(o.Guard, o.Resolver, o.Dial)
	d.net.Timeout = o.ConnectTimeout
	return &Doer{opts: o, http: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
			defer cancel()
			return d.dial(ctx, network, address)
		},
		TLSClientConfig:        tlsConfig(o.TLSConfig, 16),
		TLSHandshakeTimeout:    o.ConnectTimeout,
		ResponseHeaderTimeout:  o.HeaderTimeout,
		MaxResponseHeaderBytes: maxHead,
		DisableCompression:     true,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    1,
		MaxConnsPerHost:        8,
		IdleConnTimeout:        15 * time.Second,
		ForceAttemptHTTP2:      true,
	}}
}

// CloseIdle closes the idle connections.
func (d *Doer) CloseIdle() { d.http.CloseIdleConnections() }

// Do sends r. All its errors are of type *Error, including errors while reading a body that is too
// large or too slow. The caller must close the body.
func (d *Doer) Do(r *http.Request) (*http.Response, error) {
	raw := r.URL.String()
	t, err := splitURL(raw)
	if err == nil {
		err = d.opts.Guard.checkTarget(&t)
	}
	if err != nil {
		return nil, withURL(err, raw)
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.opts.Timeout)
	out := r.Clone(ctx)
	if out.Header.Get("User-Agent") == "" {
		// An empty value prevents net/http from sending its own User-Agent.
		out.Header.Set("User-Agent", d.opts.UserAgent)
	}
	res, err := d.http.RoundTrip(out)
	if err != nil {
		defer cancel()
		return nil, withURL(classify(ctx, err), raw)
	}
	res.Body = &limitedBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, url: raw, left: d.opts.MaxBody, limit: d.opts.MaxBody}
	return res, nil
}

// limitedBody is a response body that returns an error beyond limit bytes.
type limitedBody struct {
	io.ReadCloser
	ctx         context.Context
	cancel      context.CancelFunc
	url         string
	left, limit int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return n + int(b.left), withURL(tooLarge(b.limit), b.url)
	case err != nil && err != io.EOF:
		err = withURL(classify(b.ctx, err), b.url)
	}
	return n, err
}

func (b *limitedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
