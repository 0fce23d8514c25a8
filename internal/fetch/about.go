package fetch

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// AboutHead is how many bytes of a file About reads at most.
const AboutHead = 4096

// About is what a server says of a file.
type About struct {
	URL    string // where the redirects ended
	Status int    // of the last answer: outside of the 200s there is nothing to be had
	Type   string // Content-Type as it was sent; "": it does not say
	Length int64  // bytes; -1: it does not say
	Head   []byte // the first bytes, where it had to be asked for them
}

// About finds out what is at a URL without reading it: by a HEAD, and where that does
// not tell both the type and the length, by a GET that gives up after the first bytes.
// The error is that of Get.
func (c *Client) About(ctx context.Context, url string) (*About, error) {
	res, err := c.Get(ctx, Request{URL: url, method: http.MethodHead, first: AboutHead})
	if err == nil && res.OK() {
		if a := newAbout(res); a.Length > 0 && a.Type != "" && !strings.HasPrefix(a.Type, "application/octet-stream") && !strings.HasPrefix(a.Type, "text/") {
			return a, nil
		}
	}
	if err != nil && !KindOf(err).independentOfTarget() { // nobody answered: a second question is not answered either
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

// readFirst reads the first bytes of a body; what breaks off before is shorter.
func readFirst(r io.Reader, n int64) []byte {
	b, _ := io.ReadAll(io.LimitReader(r, n)) // see above
	return b
}
