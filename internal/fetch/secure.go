package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

func secureTransport(d *dialer, o SenderOptions) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return d.dial(ctx, network, address)
		},
		TLSClientConfig:        tlsConfig(o.TLSConfig, o.IdleTotal),
		TLSHandshakeTimeout:    o.Timeout,
		DisableCompression:     true,
		DisableKeepAlives:      o.IdleTotal < 0 || o.IdlePerOrigin < 0,
		MaxIdleConns:           max(o.IdleTotal, 1),
		MaxIdleConnsPerHost:    max(o.IdlePerOrigin, 1),
		IdleConnTimeout:        o.IdleTimeout,
		MaxResponseHeaderBytes: maxHead,
		ForceAttemptHTTP2:      true,
	}
}

// tlsConfig returns a copy of c with a session cache of the given number of sessions, which halves
// the cost of later handshakes with a host.
func tlsConfig(c *tls.Config, sessions int) *tls.Config {
	if c == nil {
		c = &tls.Config{}
	}
	c = c.Clone()
	if c.ClientSessionCache == nil {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(max(64, 4*sessions))
	}
	if c.MinVersion == 0 {
		c.MinVersion = tls.VersionTLS12
	}
	return c
}

// sendSecure sends a message over https with net/http.
func (s *Sender) sendSecure(ctx context.Context, m *Message, t *target) Reply {
	start := time.Now()
	ctx, cancel := context.WithDeadline(ctx, s.deadline(ctx, start))
	defer cancel()
	r := Reply{}
	res, err := s.secure.RoundTrip(m.request(ctx, t, s.opts.UserAgent, &r.Dialled))
	if err != nil && exhausted(err) {
		s.CloseIdle()
		res, err = s.secure.RoundTrip(m.request(ctx, t, s.opts.UserAgent, &r.Dialled))
	}
	took := time.Since(start)
	if err != nil {
		dialled := r.Dialled
		r = s.failed(ctx, m, err)
		r.Dialled, r.Took = dialled, took
		return r
	}
	defer res.Body.Close()
	r.Status, r.Took = res.StatusCode, took
	r.ContentType, r.RetryAfter, r.Location = res.Header.Get("Content-Type"), res.Header.Get("Retry-After"), res.Header.Get("Location")
	switch {
	case m.WantBody:
		limit := m.maxBody()
		body, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
		r.Partial = err != nil || len(body) > limit
		r.Body = body[:min(len(body), limit)]
	case res.ContentLength != 0 && res.ContentLength <= maxReply:
		// The rest of the body is read only so that the connection can be reused, with a short time
		// limit.
		linger := time.AfterFunc(lingerFor, cancel)
		io.CopyN(io.Discard, res.Body, maxReply+1)
		linger.Stop()
	}
	return r
}

// request converts m to a request of net/http. It sets dialled to true if a new connection is
// opened.
func (m *Message) request(ctx context.Context, t *target, agent string, dialled *bool) *http.Request {
	*dialled = true // GotConn clears it for a reused connection
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { *dialled = !i.Reused },
	})
	h := make(http.Header, 4+len(m.Header)/2)
	h["User-Agent"] = []string{agent}
	if m.ContentType != "" {
		h["Content-Type"] = []string{m.ContentType}
	}
	for i := 0; i+1 < len(m.Header); i += 2 {
		h.Add(m.Header[i], m.Header[i+1])
	}
	// If this field is present, even empty and unsent, net/http sends the request again if a reused
	// connection was closed before any byte of a response. The plain sender does the same.
	h["X-Idempotency-Key"] = nil
	req := &http.Request{
		Method: m.method(), URL: t.url(), Host: t.shown, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(m.Body) > 0 {
		req.ContentLength = int64(len(m.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.Body)), nil }
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(ctx)
}

// url returns t as a URL for net/http. Its form makes net/http send path and query unchanged.
func (t *target) url() *url.URL {
	u := &url.URL{Scheme: "http", Host: t.shown}
	if t.https {
		u.Scheme = "https"
	}
	path := t.path
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if len(path) > 1 && path[1] == '/' {
		// The path begins with two slashes. In the field Opaque, net/http would take its first segment
		// for a host, so use the field Path, which preserves almost all bytes.
		if v, err := url.ParseRequestURI(path[1:]); err == nil {
			u.Path, u.RawPath, u.RawQuery, u.ForceQuery = "/"+v.Path, "/"+v.EscapedPath(), v.RawQuery, v.ForceQuery
			return u
		}
	}
	u.Opaque = path
	return u
}
