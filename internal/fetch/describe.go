package fetch

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// AboutHead is the maximum number of bytes that About reads of a file.
const AboutHead = 4096

// About describes a remote file.
type About struct {
	URL    string // URL after all redirects
	Status int    // status of the last response; outside 2xx the other fields describe an error page
	Type   string // Content-Type as sent; "": not sent
	Length int64  // length in bytes; -1: unknown
	Head   []byte // the first bytes, if a GET was necessary
}

// About describes the file at a URL without reading it. It sends a HEAD request. If the response
// has no usable type or length, About sends a GET and reads at most AboutHead bytes. It returns the
// errors of Get.
func (c *Client) About(ctx context.Context, url string) (*About, error) {
	res, err := c.Get(ctx, Request{URL: url, method: http.MethodHead, first: AboutHead})
	if err == nil && res.OK() {
		if a := newAbout(res); a.Length > 0 && a.Type != "" && !strings.HasPrefix(a.Type, "application/octet-stream") && !strings.HasPrefix(a.Type, "text/") {
			return a, nil
		}
	}
	if err != nil && !KindOf(err).independentOfTarget() { // there was no response, so a second request would fail too
		return nil, err
	}
	if res, err = c.Get(ctx, Request{URL: url, first: AboutHead}); err != nil {
		return nil, err
	}
	a := newAbout(res)
	a.Head = res.Body
	return a, nil
}

func newAbout(res *Response) *About {
	a := &About{URL: res.URL, Status: res.Status, Type: strings.TrimSpace(res.Header.Get("Content-Type")), Length: -1}
	length := res.Header.Get("Content-Length")
	if res.Status == http.StatusPartialContent {
		_, length, _ = strings.Cut(res.Header.Get("Content-Range"), "/")
	}
	if n, err := strconv.ParseInt(length, 10, 64); err == nil && n >= 0 && res.Header.Get("Content-Encoding") == "" {
		a.Length = n
	}
	return a
}

// readFirst reads up to n bytes of a body. A read error truncates the result.
func readFirst(r io.Reader, n int64) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, n)) // after a read error the result is shorter
	return b
}

// GetFirst is like Get for the first n bytes of a document. The body has fewer bytes if the
// document is shorter, or if reading failed after the beginning.
func (c *Client) GetFirst(ctx context.Context, r Request, n int64) (*Response, error) {
	r.first = n
	return c.Get(ctx, r)
}
