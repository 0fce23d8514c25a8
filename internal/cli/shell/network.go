package shell

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/protocol/rsscloud"
)

// CheckURL returns an error if a URL cannot be fetched.
func CheckURL(name string) error {
	name, _, _ = strings.Cut(name, "#") // requests do not contain the fragment
	if rsscloud.CheckFeedURL(name) == nil {
		return nil
	}
	why := "it must be an http or https URL with a host"
	if u, err := url.Parse(name); err == nil && u.User != nil {
		return fmt.Errorf("%q is not a URL that can be read: it contains a user name, which would appear in the output", u.Redacted())
	}
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		why = "it contains a space or a control character; write a space as %20"
	case len(name) > rsscloud.MaxURL:
		why = fmt.Sprintf("it is longer than %d bytes", rsscloud.MaxURL)
	}
	return fmt.Errorf("%q is not a URL that can be read: %s", Clip(name, 200), why)
}

// PlainNetError replaces a network error with a plain sentence. The sentence omits the method and
// the URL, because the caller's message already contains them.
func PlainNetError(err error) error {
	from := ""
	if e, ok := errors.AsType[*url.Error](err); ok {
		from, err = e.URL, e.Err
	}
	if text := netSentence(err, from); text != "" {
		return netError{text, err}
	}
	return err
}

// netError is a network error with a plain message.
type netError struct {
	text string
	err  error
}

func (e netError) Error() string { return e.text }
func (e netError) Unwrap() error { return e.err }

// netSentence returns a plain sentence for a network error; "": the message of err is already
// plain. from is the last requested URL.
func netSentence(err error, from string) string {
	text := err.Error()
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		return fmt.Sprintf("there was no complete response within %d seconds", int(FeedTimeout.Seconds()))
	case isDNS && dns.IsNotFound:
		return "the host " + dns.Name + " does not exist"
	case isOp && op.Op == "dial" && op.Addr != nil && op.Err != nil:
		return "no connection to " + op.Addr.String() + ": " + lastOf(op.Err).Error()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), isCorrupt(err):
		return "the body does not match its Content-Encoding (" + text + ")"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the response ends early"
	case errors.Is(err, io.EOF):
		return "the connection was closed without a response"
	case strings.HasPrefix(text, "stopped after "): // net/http has no error type for too many redirects
		return "it redirects more than 10 times"
	case strings.HasPrefix(text, "unsupported protocol scheme"):
		if from == "" {
			return "it redirects to a URL that is neither http nor https"
		}
		return fmt.Sprintf("it redirects to %q, which is not an http or https URL", from)
	case strings.HasPrefix(text, "failed to parse Location header"):
		return "it redirects to an invalid URL: " + strings.TrimPrefix(text, "failed to parse Location header ")
	case strings.Contains(text, "malformed "):
		return "the response is not HTTP: " + strings.TrimPrefix(text, "net/http: HTTP/1.x transport connection broken: ")
	}
	return ""
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[flate.CorruptInputError](err)
	return ok
}

// lastOf returns the innermost error in the chain of err.
func lastOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// decoding is a client that decodes compressed bodies even if the request did not ask for
// compression. net/http decodes only a body whose compression it requested itself.
type decoding struct{ http rsscloud.HTTPClient }

func (d decoding) Do(r *http.Request) (*http.Response, error) {
	res, err := d.http.Do(r)
	if err != nil || res.Header.Get("Content-Encoding") == "" {
		return res, err
	}
	res.Body = &decodedBody{body: res.Body, codings: res.Header.Values("Content-Encoding")}
	return res, nil
}

// decodedBody starts decoding at the first Read, so that decoding errors are read errors.
type decodedBody struct {
	body    io.ReadCloser
	codings []string
	plain   io.Reader
}

func (d *decodedBody) Read(p []byte) (int, error) {
	if d.plain == nil {
		plain, err := NewDecoder(d.body, strings.Join(d.codings, ","))
		if err != nil {
			return 0, err
		}
		d.plain = plain
	}
	return d.plain.Read(p)
}

func (d *decodedBody) Close() error { return d.body.Close() }

// NewDecoder returns a reader that decodes one content coding. It rejects a list of codings,
// because only decompression bombs use lists.
func NewDecoder(r io.Reader, coding string) (io.Reader, error) {
	coding = ContentCoding(coding)
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err == io.EOF && len(head) == 0 {
		return b, nil // the body is empty
	}
	switch coding {
	case "":
		return b, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(b)
	case "deflate":
		// The standard requires the zlib format for deflate, but many servers send a raw deflate
		// stream.
		if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil
	}
	return nil, fmt.Errorf("unsupported Content-Encoding %q", Clip(coding, 40))
}

// ContentCoding returns a content coding in lowercase; "": the coding does not change the body.
func ContentCoding(coding string) string {
	switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
	case "identity", "none", "utf-8":
		return ""
	}
	return coding
}

// SingleHopClient returns a client that does not follow redirects and does not decode bodies.
func (p *Shell) SingleHopClient() rsscloud.HTTPClient {
	if p.HTTP != nil {
		return p.HTTP
	}
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 2, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
