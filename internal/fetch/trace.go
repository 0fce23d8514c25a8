package fetch

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxTrace is the maximum length of each text of a Trace, in bytes.
const maxTrace = 2 << 10

// Trace records what one Get sent and received: the request and the response head of each hop,
// separated by an empty line. Credentials are replaced by "…". Each text is at most 2 KiB.
type Trace struct {
	Sent, Received string
}

func (t *Trace) send(req *http.Request, r *Request) {
	if t == nil {
		return
	}
	var b strings.Builder
	b.Grow(512)
	b.WriteString("GET ")
	b.WriteString(req.URL.RequestURI())
	b.WriteString(" HTTP/1.1\nHost: ")
	b.WriteString(req.Host)
	b.WriteByte('\n')
	writeHead(&b, req.Header, func(name string) bool {
		switch name {
		case "Authorization", "Cookie", "X-Wsse":
			return true
		}
		for private := range r.Private {
			if http.CanonicalHeaderKey(private) == name {
				return true
			}
		}
		return false
	})
	t.Sent = joinHeads(t.Sent, b.String())
}

func (t *Trace) receive(res *http.Response) {
	if t == nil {
		return
	}
	var b strings.Builder
	b.Grow(512)
	b.WriteString(res.Proto)
	b.WriteByte(' ')
	b.WriteString(res.Status)
	b.WriteByte('\n')
	writeHead(&b, res.Header, func(name string) bool { return name == "Set-Cookie" })
	t.Received = joinHeads(t.Received, b.String())
}

func writeHead(b *strings.Builder, h http.Header, secret func(name string) bool) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			if b.Len() > maxTrace {
				return
			}
			if secret(name) {
				v = "…"
			}
			b.WriteString(name)
			b.WriteString(": ")
			b.WriteString(v)
			b.WriteByte('\n')
		}
	}
}

// joinHeads appends a head to the previous heads. Header values may contain any byte, but the
// result is valid UTF-8.
func joinHeads(before, head string) string {
	if before != "" {
		head = before + "\n" + head
	}
	if len(head) > maxTrace {
		head = head[:maxTrace-4] + "…"
	}
	return strings.ToValidUTF8(head, "�")
}
