package readhttp_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/readhttp"
	"cloudburst/internal/river"
	"cloudburst/internal/route"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/protocol/fever"
	"cloudburst/protocol/greader"
)

const (
	goodPassword = "right password"
	newsURL      = "http://feeds.test/news.xml"
	podURL       = "http://feeds.test/pod.xml"
	newURL       = "http://feeds.test/new.xml"
	bobURL       = "http://feeds.test/bob.xml"
)

// clock is a clock that advances only when a test changes it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// arriving is a river in which a test can make items arrive.
type arriving interface {
	readhttp.AppRiver
	arrived(url string) // signals that the feed at url has new items
}

// appHarness is a server for apps. alice follows two feeds, and bob one that she must never see.
type appHarness struct {
	*testing.T
	clock    *clock
	feeds    map[string]*feedDef
	store    *sqlite.Store
	river    arriving
	accounts *account.Accounts
	token    string // the token of alice's reading app
	srv      *httptest.Server
}

func newAppHarness(t *testing.T, open func(*appHarness) arriving) *appHarness {
	t.Helper()
	w := &appHarness{T: t, clock: &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)}, feeds: map[string]*feedDef{}}
	for address, title := range map[string]string{newsURL: "News <1> & AT&T", podURL: "Podcast", newURL: "Brand new", bobURL: "bob's secret"} {
		f := &feedDef{url: address, title: title, home: "http://" + strings.ReplaceAll(title[:3], " ", "") + ".test/"}
		for i := range 3 {
			f.add(0, w.clock.now().Add(time.Duration(i-10)*time.Hour))
		}
		w.feeds[address] = f
	}
	w.feeds[podURL].items[2].enclosure = river.Enclosure{URL: "http://feeds.test/3.mp3", Type: "audio/mpeg", Length: 12345}
	w.feeds[newsURL].items[2].title = "x < y & &lt;b&gt;"
	w.feeds[newsURL].items[2].author = "Ann <a@b>"
	st, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t)})
	w.must(err)
	w.store = st
	t.Cleanup(func() { _ = st.Close() })
	w.accounts = &account.Accounts{Store: st, Key: []byte(strings.Repeat("k", 32)), Now: w.clock.now, Options: account.Options{Hash: quickHash}}
	for _, name := range []string{"alice", "bob"} {
		_, err := w.accounts.Add(t.Context(), name, goodPassword)
		w.must(err)
	}
	w.token, _, err = w.accounts.NewToken(t.Context(), "alice", "app", []string{"read"})
	w.must(err)
	w.river = open(w)
	w.follow("alice", newsURL, "Daily")
	w.follow("alice", podURL)
	w.follow("bob", bobURL, "Daily")
	w.clock.wait(time.Minute)
	apps := &readhttp.Apps{River: w.river, Accounts: w.accounts, Now: w.clock.now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Public: func() string { return "https://cloud.test" }, ReaderOf: func(user string) string { return "reader of " + user }}
	mux := http.NewServeMux()
	route.Mount(mux, apps.Routes(), endpoint.Protect())
	w.srv = httptest.NewServer(mux)
	t.Cleanup(w.srv.Close)
	return w
}

// quickHash is a fast, insecure password hash for tests only.
func quickHash(password, salt []byte, passes, memory uint32) []byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, passes))
	h.Write(binary.BigEndian.AppendUint32(nil, memory))
	h.Write(salt)
	h.Write(password)
	return h.Sum(nil)
}

func (w *appHarness) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *appHarness) follow(user, address string, categories ...string) {
	w.Helper()
	_, err := w.river.Add(w.Context(), river.Request{Reader: "reader of " + user, URL: address, Categories: categories})
	w.must(err)
}

// arrive adds n items to a feed, one after the other, and waits for settleDelay.
func (w *appHarness) arrive(address string, n int) {
	w.Helper()
	for range n {
		w.clock.wait(time.Second)
		w.feeds[address].add(0, w.clock.now())
		w.river.arrived(address)
	}
	w.clock.wait(10 * time.Second)
}

func (w *appHarness) google() *greader.Client {
	w.Helper()
	c := &greader.Client{Base: w.srv.URL, HTTP: w.srv.Client()}
	w.must(c.Login(w.Context(), "alice", goodPassword))
	return c
}

func (w *appHarness) fever() *fever.Client {
	return &fever.Client{URL: w.srv.URL + "/fever/", Key: fever.Key("alice", w.token), HTTP: w.srv.Client()}
}

// script is a recorded session of an app; see testdata/apps/README.
type script struct {
	*appHarness
	name   string
	line   int
	vars   map[string]string
	header http.Header
	body   []byte
	status int
	parsed any
}

// play replays a script.
func (w *appHarness) play(name string) {
	w.Helper()
	raw, err := os.ReadFile(name)
	w.must(err)
	s := &script{appHarness: w, name: name, header: http.Header{}, vars: map[string]string{
		"token": w.token, "key": fever.Key("alice", w.token), "password": goodPassword,
	}}
	lines := strings.Split(string(raw), "\n")
	for i := 0; i < len(lines); i++ {
		s.line = i + 1
		kind, rest, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		switch kind {
		case "", "#":
		case ">":
			var body []string
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|") {
				i++
				body = append(body, s.fill(strings.TrimSpace(lines[i][1:])))
			}
			s.send(s.fill(rest), strings.Join(body, "&"))
		default:
			s.do(kind, rest)
		}
	}
}

func (s *script) do(kind, rest string) {
	s.Helper()
	switch kind {
	case "<":
		if want, _ := strconv.Atoi(rest); s.status != want {
			s.wrong("the status is %d, want %d", s.status, want)
		}
	case "~", "!":
		m := regexp.MustCompile(s.fill(rest))
		found := m.FindStringSubmatch(string(s.body))
		if (found != nil) != (kind == "~") {
			s.wrong("%s %s", kind, m)
		}
		for i, name := range m.SubexpNames() {
			if name != "" && found != nil {
				s.vars[name] = found[i]
			}
		}
	case ".":
		s.check(rest)
	case "auth":
		s.header.Set("Authorization", s.fill(rest))
	case "wait":
		d, err := time.ParseDuration(rest)
		s.must(err)
		s.clock.wait(d)
	case "arrive":
		address, n, _ := strings.Cut(rest, " ")
		count, _ := strconv.Atoi(n)
		s.arrive("http://feeds.test/"+address, max(count, 1))
	case "now":
		s.vars[rest] = strconv.FormatInt(s.clock.now().Unix(), 10)
	default:
		s.Fatalf("%s:%d: unknown line", s.name, s.line)
	}
}

func (s *script) wrong(format string, args ...any) {
	s.Helper()
	s.Fatalf("%s:%d: %s\nanswer: %d %.3000s", s.name, s.line, fmt.Sprintf(format, args...), s.status, s.body)
}

// fill replaces $name and $function(name) by their values.
func (s *script) fill(text string) string {
	return regexp.MustCompile(`\$(\w+)(?:\((\w+)\))?`).ReplaceAllStringFunc(text, func(m string) string {
		name, arg, call := strings.Cut(strings.TrimSuffix(m[1:], ")"), "(")
		if !call {
			if v, ok := s.vars[name]; ok {
				return v
			}
			return m
		}
		v := s.vars[arg]
		n, _ := strconv.ParseInt(v, 10, 64)
		switch name {
		case "hex": // hexadecimal without leading zeros, as NetNewsWire sends it
			return strconv.FormatInt(n, 16)
		case "hex16":
			return fmt.Sprintf("%016x", n)
		case "esc":
			return url.QueryEscape(v)
		case "dec": // decimal, from the long form
			n, err := strconv.ParseInt(v[strings.LastIndexByte(v, '/')+1:], 16, 64)
			s.must(err)
			return strconv.FormatInt(n, 10)
		case "sec": // seconds, from microseconds
			return strconv.FormatInt(n/1_000_000, 10)
		}
		s.Fatalf("%s:%d: there is no function %s", s.name, s.line, name)
		return ""
	})
}

func (s *script) send(target, body string) {
	s.Helper()
	method, path, _ := strings.Cut(target, " ")
	r, err := http.NewRequestWithContext(s.Context(), method, s.srv.URL+path, strings.NewReader(body))
	s.must(err)
	r.Header = s.header.Clone()
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.srv.Client().Do(r)
	s.must(err)
	defer resp.Body.Close()
	s.body, err = io.ReadAll(resp.Body)
	s.must(err)
	s.status, s.parsed = resp.StatusCode, nil
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		d := json.NewDecoder(strings.NewReader(string(s.body)))
		d.UseNumber()
		if err := d.Decode(&s.parsed); err != nil {
			s.wrong("no JSON: %v", err)
		}
	}
	if strings.Contains(string(s.body), "bob") {
		s.wrong("alice sees items of bob")
	}
}

// check checks a line of a script about the last response: "path = value", "path -> name" or "path
// # length".
func (s *script) check(rest string) {
	s.Helper()
	fields := strings.SplitN(rest, " ", 3)
	if len(fields) != 3 {
		s.Fatalf("%s:%d: path, sign and value are needed", s.name, s.line)
	}
	v, ok := walk(s.parsed, strings.Split(fields[0], "."))
	if !ok {
		s.wrong("there is no %s", fields[0])
	}
	switch want := s.fill(fields[2]); fields[1] {
	case "=":
		var value any
		d := json.NewDecoder(strings.NewReader(want))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			s.Fatalf("%s:%d: %q is no value: %v", s.name, s.line, want, err)
		}
		if !reflect.DeepEqual(v, value) {
			s.wrong("%s is %#v, want %#v", fields[0], v, value)
		}
	case "->":
		s.vars[fields[2]] = fmt.Sprint(v)
	case "#":
		if list, ok := v.([]any); !ok || strconv.Itoa(len(list)) != want {
			s.wrong("%s has %d elements, want %s", fields[0], len(list), want)
		}
	case "kind": // the kind of the value as a strict app decodes it
		if kind := fmt.Sprintf("%T", v); kind != map[string]string{"string": "string", "number": "json.Number", "list": "[]interface {}"}[want] {
			s.wrong("%s is a %s", fields[0], kind)
		}
	default:
		s.Fatalf("%s:%d: there is no sign %s", s.name, s.line, fields[1])
	}
}

// walk follows a path of names and list indexes in decoded JSON.
func walk(v any, path []string) (any, bool) {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = in[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// faked returns a river in memory.
func faked(w *appHarness) arriving { return newFakeRiver(w.T, w.clock.now, w.feeds) }

var _ readhttp.AppRiver = (*river.River)(nil)
