package doctest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/protocol/websub"
)

// exchange is a block that shows an HTTP request, an empty line, and a response that starts with
// "HTTP/1.1". If the Host is hub.example, the test sends the request to the server byte for byte.
// The server's response must then have the documented status, header fields and body. If the Host
// is reader.example, the server must send the request, and the test answers with the documented
// response. In a response, … matches any text. A Content-Length in the block is the length of the
// documented text; the test sends the actual length.
type exchange struct {
	block           block
	request, answer string
	seen            bool // the server has sent the request to the reader
}

func parseExchange(b block) (*exchange, error) {
	request, answer, ok := strings.Cut(b.text, "\n\nHTTP/1.1 ")
	if !ok {
		// A request without a body ends with the empty line after its header.
		return nil, fmt.Errorf("%s:%d: no answer after an empty line", b.page, b.line)
	}
	x := &exchange{block: b, request: request, answer: "HTTP/1.1 " + strings.TrimRight(answer, "\n")}
	head, body, _ := strings.Cut(request, "\n\n")
	if m := regexp.MustCompile(`\nContent-Length: (\d+)`).FindStringSubmatch(head); m != nil && m[1] != strconv.Itoa(len(body)) {
		return nil, fmt.Errorf("%s:%d: Content-Length is %s, but the body has %d bytes", b.page, b.line, m[1], len(body))
	}
	return x, nil
}

func (x *exchange) toReader() bool { return strings.Contains(x.request, "\nHost: reader.example") }

// answerParts returns the status, the header and the body of the documented response.
func (x *exchange) answerParts(real func(string) string) (int, http.Header, string) {
	head, body, _ := strings.Cut(real(x.answer), "\n\n")
	lines := strings.Split(head, "\n")
	header := http.Header{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	status, _ := strconv.Atoi(strings.Fields(lines[0])[1]) // WriteHeader rejects an invalid status
	return status, header, body
}

// exchange sends the request of a block, or waits until the server sends it.
func (p *place) exchange(b block) {
	p.t.Helper()
	x, err := parseExchange(b)
	if err != nil {
		p.t.Fatal(err)
	}
	if x.toReader() {
		i := slices.IndexFunc(p.harness.answers, func(o *exchange) bool { return o.block == b })
		p.harness.wait(p.harness.answers[i])
		p.settled(x)
		return
	}
	res, body, err := p.send(x)
	if err != nil {
		p.t.Fatalf("%s:%d: %v\n%s", b.page, b.line, err, x.request)
	}
	if err := p.harness.answered(x, res, body); err != nil {
		p.t.Errorf("%s:%d: %v\nThe response is now\n%s %s\n%v\n\n%s", b.page, b.line, err, res.Proto, res.Status, res.Header, p.back.Replace(string(body)))
	}
}

// send writes the request to a connection byte for byte, and returns the response.
func (p *place) send(x *exchange) (*http.Response, []byte, error) {
	p.harness.mu.Lock()
	head, body, _ := strings.Cut(p.harness.real(x.request), "\n\n")
	p.harness.mu.Unlock()
	head = regexp.MustCompile(`\nContent-Length: \d+`).ReplaceAllString(head, "\nContent-Length: "+strconv.Itoa(len(body)))
	c, err := net.DialTimeout("tcp", "127.0.0.1:"+p.harness.hub, time.Minute)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, nil, err
	}
	if _, err := io.WriteString(c, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		return nil, nil, err
	}
	method, _, _ := strings.Cut(head, " ")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res, answer, err
}

// answered returns an error if the response differs from the documented response.
func (w *harness) answered(x *exchange, res *http.Response, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	head, want, _ := strings.Cut(x.answer, "\n\n")
	lines := strings.Split(head, "\n")
	if got := res.Proto + " " + res.Status; got != lines[0] {
		return fmt.Errorf("the answer is %s, not %s", got, lines[0])
	}
	return w.rest(lines[1:], want, res.Header, body)
}

// like returns an error if a request to the reader differs from the documented request.
func (w *harness) like(x *exchange, r *http.Request, body []byte) error {
	head, want, _ := strings.Cut(x.request, "\n\n")
	lines := strings.Split(head, "\n")
	part := strings.Fields(lines[0])
	if len(part) != 3 || r.Method != part[0] || r.Proto != part[2] {
		return errors.New("another method")
	}
	path, query, _ := strings.Cut(w.real(part[1]), "?")
	if r.URL.EscapedPath() != path {
		return errors.New("another path")
	}
	learned, err := w.query(query, r.URL.RawQuery)
	if err != nil {
		return err
	}
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	if err := w.rest(lines[1:], want, header, body); err != nil {
		return err
	}
	maps.Copy(w.learned, learned)
	return nil
}

// query returns an error if two queries differ. It learns random values: learned maps a
// documented challenge to the actual challenge.
func (w *harness) query(want, got string) (learned map[string]string, err error) {
	wants, gots := strings.Split(want, "&"), strings.Split(got, "&")
	if len(wants) != len(gots) {
		return nil, fmt.Errorf("the query is %s, not %s", got, want)
	}
	learned = map[string]string{}
	for i := range wants {
		name, shown, _ := strings.Cut(wants[i], "=")
		is, _ := strings.CutPrefix(gots[i], name+"=")
		switch {
		case strings.HasSuffix(name, "challenge") && strings.HasPrefix(gots[i], name+"="):
			learned[shown] = is
		case strings.Contains(shown, "…") && alike(is, shown):
		default:
			unescaped, _ := url.QueryUnescape(shown) // if shown is invalid, it does not match
			if wants[i] != gots[i] && !(strings.Contains(unescaped, "…") && alike(gots[i], name+"="+shown)) {
				return nil, fmt.Errorf("in the query is %s, not %s", gots[i], wants[i])
			}
		}
	}
	return learned, nil
}

// rest returns an error if header fields or the body differ from the documented ones. It learns
// an ETag, and checks the signatures of the documented body and of the actual body.
func (w *harness) rest(lines []string, want string, header http.Header, body []byte) error {
	for _, line := range lines {
		name, shown, _ := strings.Cut(line, ": ")
		got := header.Get(name)
		switch name {
		case "Content-Length":
		case "ETag":
			if got == "" {
				return errors.New("no ETag")
			}
			if shown != "…" {
				w.learned[shown] = got
			}
		case "X-Hub-Signature":
			if err := w.signed(shown, want+"\n", got, body); err != nil {
				return err
			}
		default:
			if !alike(got, w.real(shown)) {
				return fmt.Errorf("%s is %q, not %q", name, got, w.real(shown))
			}
		}
	}
	if got := strings.TrimSpace(string(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))); !alike(got, strings.TrimSpace(w.real(want))) {
		return fmt.Errorf("the body is\n%s\nnot\n%s", got, w.real(want))
	}
	return nil
}

// signed returns an error if one of two signatures is wrong: the documented signature of text, or
// the signature got of body. Both use the first secret that the page shows.
func (w *harness) signed(shown, text, got string, body []byte) error {
	m := regexp.MustCompile(`hub\.secret=([^&\s]+)`).FindStringSubmatch(w.p.page.text)
	if m == nil {
		return errors.New("no secret is shown")
	}
	for _, s := range []struct{ signature, of string }{{shown, text}, {got, string(body)}} {
		want, err := websub.Sign(websub.SHA256, m[1], []byte(s.of))
		if err != nil || want != s.signature {
			return fmt.Errorf("the signature is %s, not %s: %w", s.signature, want, err)
		}
	}
	return nil
}

// settled waits until the subscription list shows the effect of a verification. This is shortly
// after the response of the callback.
func (p *place) settled(x *exchange) {
	p.t.Helper()
	m := regexp.MustCompile(`^GET (\S+?)\?\S*hub\.mode=(subscribe|unsubscribe)`).FindStringSubmatch(x.request)
	if m == nil {
		return
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		cmd := exec.CommandContext(p.t.Context(), "bin/cloudburst", "subscriptions", "list", "--json")
		cmd.Dir, cmd.Env = p.dir, p.env
		out, err := cmd.Output()
		if err != nil {
			p.t.Fatalf("subscriptions: %v\n%s", err, out)
		}
		if bytes.Contains(out, []byte(m[1]+`"`)) == (m[2] == "subscribe") {
			return
		}
	}
	p.t.Fatalf("%s:%d: the request had no effect", x.block.page, x.block.line)
}

// alike reports whether got matches the pattern want, in which … matches any text.
func alike(got, want string) bool {
	parts := strings.Split(want, "…")
	if len(parts) == 1 {
		return got == want
	}
	last := parts[len(parts)-1]
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = after
	}
	return strings.HasSuffix(got, last)
}
