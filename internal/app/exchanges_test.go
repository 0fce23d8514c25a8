package app_test

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/protocol/fever"
)

// TestRecordedClientRequestsGetTheRecordedResponses replays recorded requests of real programs
// byte for byte to the whole program. It compares the responses with the responses that these
// programs accepted. The folder testdata/exchanges contains one file per program. The first part
// of a file names the program. Each further part follows a line "---" and contains a request, an
// empty line, and the response, which begins with "HTTP/1.1". In a response, … matches any text,
// and {{name}} captures the text if the name has no value yet. {{name%}} is the value with query
// escaping, and {{name%%}} is the value with double query escaping. A special part begins with
// one of these lines:
//
//   - "The server sends:" begins a request of the server to the program, and the answer of the
//     program. The replay waits for the request, which may arrive during the previous part.
//   - "The server may send:" begins an optional request.
//   - "Repeated until:" begins a request that the replay repeats until the recorded answer
//     arrives, because the server does other work first.
//
// These names have a value from the start: {{host}} is the address of the server, {{callback}} is
// the address of the program's listener, and {{callbackport}} is the port of this listener.
// {{password}} and {{token}} belong to alice. {{basic}} is her name and password for HTTP Basic,
// and {{feverkey}} is her name and token for Fever. {{later}} is a future time in Unix seconds.
func TestRecordedClientRequestsGetTheRecordedResponses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(string(doc), "\n---\n")
			if len(parts) < 2 {
				t.Fatal("there is no exchange")
			}
			r := start(t, conf(t, t.TempDir()))
			wait(t, "the test feed is followed", func() bool { return r.sources("") > 0 }) // the server follows the test feed only while no account exists
			token, err := r.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "app", Scopes: []string{"create", "update", "delete", "media", "read"}})
			if err != nil {
				t.Fatal(err)
			}
			// The recorded clients follow alice's feed themselves, and expect that her posts are
			// unread.
			b := anonymous(t, r)
			b.send("/login", "name", "alice", "password", alicePassword, "next", "/account")
			b.shows(http.StatusOK)(b.send("/people/settings", "listed", "1"))
			x := &recorded{host: strings.TrimPrefix(r.base, "http://"), undecided: r.undecided, known: map[string]string{
				"password": alicePassword, "token": token.Token, "basic": base64.StdEncoding.EncodeToString([]byte("alice:" + alicePassword)),
				"feverkey": fever.Key("alice", token.Token), "later": fmt.Sprint(time.Now().Add(time.Hour).Unix()),
			}}
			x.known["host"] = x.host
			x.listen(t, parts[1:])
			for i, part := range parts[1:] {
				if err := x.play(t, i, strings.TrimSpace(part)); err != nil {
					t.Fatalf("exchange %d, %s: %v", i+1, strings.SplitN(part, "\n", 2)[0], err)
				}
			}
		})
	}
}

type recorded struct {
	host      string
	undecided func() int64
	mu        sync.Mutex // guards the following fields, because the server sends requests during exchanges
	known     map[string]string
	calls     []*recordedCall
	now       int // number of the current part
}

// undecided returns the number of accepted subscription requests that the hub has not yet
// decided.
func (r *running) undecided() int64 {
	r.t.Helper()
	c, err := r.app.Hub().Store.Counts(r.t.Context(), time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Requests
}

// recordedCall is a recorded request that the server sends to the program.
type recordedCall struct {
	number          int // number of the part in the file
	request, answer string
	sent            bool
	done            chan error
}

const (
	serverSends   = "The server sends:\n"
	serverMaySend = "The server may send:\n"
	untilSo       = "Repeated until:\n"
)

// listen records the calls in parts, and starts a listener that answers the server with the
// recorded answers.
func (x *recorded) listen(t *testing.T, parts []string) {
	t.Helper()
	for i, part := range parts {
		part, sends := strings.CutPrefix(strings.TrimSpace(part), serverSends)
		part, may := strings.CutPrefix(part, serverMaySend)
		if sends || may {
			request, answer, _ := strings.Cut(part, "\nHTTP/1.1 ")
			x.calls = append(x.calls, &recordedCall{number: i, request: request, answer: answer, done: make(chan error, 1)})
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := x.answer(w, r); err != nil {
			t.Error(err)
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	x.known["callback"] = strings.TrimPrefix(s.URL, "http://")
	_, x.known["callbackport"], _ = strings.Cut(x.known["callback"], ":")
}

// answer answers a request of the server with the recorded answer. The server may repeat a GET
// request, because it reads feeds on its own schedule.
func (x *recorded) answer(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	line := r.Method + " " + r.RequestURI + " HTTP/1.1"
	c := x.recordedCall(r.Method, line)
	if c == nil {
		return fmt.Errorf("the server sent what is not recorded: %s\n%s", line, body)
	}
	head, text, _ := strings.Cut(c.request, "\n\n")
	if !c.sent {
		c.sent = true
		_, headers, _ := strings.Cut(head, "\n")
		c.done <- x.same(headers, text, r.Header, string(body))
	}
	head, text, _ = strings.Cut(x.filled(c.answer), "\n\n")
	lines := strings.Split(head, "\n")
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Add(name, value)
	}
	status, err := strconv.Atoi(strings.Fields(lines[0])[0])
	if err != nil {
		return err
	}
	w.WriteHeader(status)
	_, err = io.WriteString(w, strings.TrimRight(text, "\n"))
	return err
}

// recordedCall returns the recorded call that matches a request of the server. For a GET request, it
// returns the last matching call up to the next part, or else the first later call. For other
// methods, it returns the first matching call that the server has not sent. nil: no call matches.
func (x *recorded) recordedCall(method, line string) (found *recordedCall) {
	for _, c := range x.calls {
		first, _, _ := strings.Cut(c.request, "\n")
		if c.sent && method != http.MethodGet || found != nil && c.number > x.now+1 || x.alike("request", first, line) != nil {
			continue
		}
		found = c
		if method != http.MethodGet {
			break
		}
	}
	return found
}

// play replays one part of a file.
func (x *recorded) play(t *testing.T, number int, part string) error {
	t.Helper()
	x.mu.Lock()
	x.now = number
	x.mu.Unlock()
	if strings.HasPrefix(part, serverMaySend) {
		return nil
	}
	if strings.HasPrefix(part, serverSends) {
		for _, c := range x.calls {
			if c.number == number {
				select {
				case err := <-c.done:
					wait(t, "the requests for subscriptions are decided", func() bool { return x.undecided() == 0 })
					return err
				case <-time.After(maxWait):
					return fmt.Errorf("the server did not send it")
				}
			}
		}
	}
	again, ok := strings.CutPrefix(part, untilSo)
	if !ok {
		return x.exchange(part)
	}
	var last error
	t.Cleanup(func() {
		if last != nil {
			t.Log(last)
		}
	})
	wait(t, again, func() bool {
		last = x.exchange(again)
		return last == nil
	})
	return nil
}

var placeholder = regexp.MustCompile(`\{\{([a-z0-9]+)(%{0,2})\}\}`)

// filled replaces the placeholders in a request with their values.
func (x *recorded) filled(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		value := x.known[m[1]]
		for range m[2] {
			value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		}
		return value
	})
}

func (x *recorded) exchange(part string) error {
	request, answer, ok := strings.Cut(part, "\nHTTP/1.1 ")
	if !ok {
		return fmt.Errorf("there is no answer")
	}
	x.mu.Lock()
	head, body, _ := strings.Cut(x.filled(request), "\n\n")
	x.mu.Unlock()
	body = strings.TrimRight(body, "\n")
	head = strings.TrimRight(head, "\n") + fmt.Sprintf("\nContent-Length: %d\nConnection: close", len(body))
	conn, err := net.Dial("tcp", x.host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(maxWait)); err != nil {
		return err
	}
	head = strings.Replace(head, ", br, zstd", "", 1) // the test can decode only gzip
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	from := io.Reader(res.Body)
	if res.Header.Get("Content-Encoding") == "gzip" {
		if from, err = gzip.NewReader(res.Body); err != nil {
			return err
		}
	}
	got, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.compare(answer, res, string(got))
}

func (x *recorded) compare(want string, res *http.Response, got string) error {
	head, body, _ := strings.Cut(want, "\n\n")
	status, headers, _ := strings.Cut(head, "\n")
	if !strings.HasPrefix(res.Status, strings.TrimSpace(status)) {
		return fmt.Errorf("the status is %s, not %s: %.2000s", res.Status, status, got)
	}
	return x.same(headers, body, res.Header, got)
}

// same compares the headers and body of a response with the recording.
func (x *recorded) same(headers, body string, header http.Header, got string) error {
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(line, ": ")
		if err := x.alike(name, strings.TrimSpace(value), header.Get(name)); err != nil {
			return err
		}
	}
	if body = strings.TrimSpace(body); body == "" {
		return nil
	}
	return x.alike("body", body, strings.TrimSpace(got))
}

// alike compares a text with the recording, and captures the values of placeholders that have no
// value yet.
func (x *recorded) alike(what, want, got string) error {
	var learned []string
	pattern, at := "(?s)^", 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		name := want[m[2]:m[3]]
		pattern += wildcardPattern(want[at:m[0]])
		if _, ok := x.known[name]; ok {
			pattern += regexp.QuoteMeta(x.filled(want[m[0]:m[1]]))
		} else {
			value := `([^\s"'<>&]+)`
			if m[0] == 0 && m[1] == len(want) {
				value = `(.+)` // a value such as the date in a header
			}
			pattern += value
			learned = append(learned, name)
		}
		at = m[1]
	}
	match := regexp.MustCompile(pattern + wildcardPattern(want[at:]) + "$").FindStringSubmatch(got)
	if match == nil {
		return fmt.Errorf("the %s is\n%s\nand not\n%s", what, got, x.filled(want))
	}
	for i, name := range learned {
		x.known[name] = match[i+1]
	}
	return nil
}

// wildcardPattern returns a regular expression in which … matches any text.
func wildcardPattern(s string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(s), "…", ".*?")
}
