package readhttp

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// mailServer speaks the part of SMTP that is needed to send one mail.
type mailServer struct {
	addr     string
	tls      *tls.Config
	starttls bool
	auth     bool
	rcpt     string // response to RCPT
	data     string // response after the mail
	silent   bool   // the server sends nothing after the greeting

	mu       sync.Mutex
	mails    []string
	commands []string
}

func (s *mailServer) start(t *testing.T, implicit bool) *mailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s.addr = l.Addr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if implicit {
				c = tls.Server(c, s.tls)
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *mailServer) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	say := func(line string) { io.WriteString(c, line+"\r\n") }
	say("220 mail.example ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.commands = append(s.commands, line)
		s.mu.Unlock()
		if s.silent {
			continue
		}
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "EHLO":
			say("250-mail.example")
			if s.starttls {
				say("250-STARTTLS")
			}
			if s.auth {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go")
			c = tls.Server(c, s.tls)
			in = bufio.NewReader(c)
		case "AUTH":
			say("235 welcome")
		case "RCPT":
			say(or(s.rcpt, "250 ok"))
		case "DATA":
			say("354 go on")
			mail := readMail(in)
			s.mu.Lock()
			s.mails = append(s.mails, mail)
			s.mu.Unlock()
			say(or(s.data, "250 taken"))
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func readMail(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String()
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

func TestMailContainsTextHTMLAndListHeaders(t *testing.T) {
	t.Parallel()
	s := (&mailServer{}).start(t, false)
	teller := &Sender{Mail: &Mail{Server: s.addr, TLS: MailPlain, From: "The river <river@news.example>", Site: func() string { return "https://news.example" }}, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 6, 0, time.UTC) }}
	second := blueChalk()
	second.ID, second.Title, second.HTML, second.Link = 3, "", "", "javascript:alert(1)"
	n := forward.Forwarding{ID: 7, Via: forward.ViaEmail, Target: "ann@home.example", End: "TOKEN"}
	for range 2 {
		if err := teller.Forward(t.Context(), n, []river.Entry{blueChalk(), second}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := netmail.ReadMessage(strings.NewReader(s.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"From": `"The river" <river@news.example>`, "To": "<ann@home.example>", "Subject": "The chalk log: Blue chalk (and 1 more)",
		"List-Id": "<notice-7.news.example>", "Auto-Submitted": "auto-generated", "Date": "Sun, 01 Mar 2026 12:00:06 +0000",
		"Message-Id": "<" + messageID(n, []river.Entry{blueChalk(), second}) + "@news.example>", "List-Unsubscribe": "<https://news.example/feeds/notices/end?token=TOKEN>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	again, err := netmail.ReadMessage(strings.NewReader(s.mails[1]))
	if err != nil || again.Header.Get("Message-Id") != m.Header.Get("Message-Id") {
		t.Errorf("sent again: %v", again.Header)
	}
	parts := mailParts(t, m)
	text, html := parts["text/plain"], parts["text/html"]
	for _, want := range []string{"Blue chalk\r\nThe chalk log\r\nhttp://chalk.example/blue\r\n", "It is blue.", "https://news.example/feeds/notices/end?token=TOKEN"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	for _, want := range []string{`<h2><a href="http://chalk.example/blue">Blue chalk</a></h2>`, "<p>It is <b>blue</b>.</p>", `<a href="http://chalk.example/blue.mp3">`} {
		if !strings.Contains(html, want) {
			t.Errorf("the HTML lacks %q:\n%s", want, html)
		}
	}
	if strings.Contains(html, `href="javascript:`) {
		t.Errorf("a script is a link:\n%s", html)
	}
}

func mailParts(t *testing.T, m *netmail.Message) map[string]string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s: %v", kind, err)
	}
	out := map[string]string{}
	r := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, params, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		if !strings.EqualFold(params["charset"], "utf-8") {
			t.Errorf("%s in %q", kind, params["charset"])
		}
		var body io.Reader = p
		if strings.EqualFold(p.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
			body = quotedprintable.NewReader(p)
		}
		b, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = string(b)
	}
}

func TestFeedCannotInjectMailHeaders(t *testing.T) {
	t.Parallel()
	e := blueChalk()
	e.Title = "Hello\r\nBcc: all@spam.example\r\n\r\nbody\x00\x1b[31m \u2028x " + strings.Repeat("längst ", 100)
	e.Source.Title = "Feed\nX-Evil: 1"
	m := &Mail{Server: "127.0.0.1", From: "river@news.example"}
	msg, err := m.compose(forward.Forwarding{ID: 1, Target: "ann@home.example"}, []river.Entry{e}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := msg.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	read, err := netmail.ReadMessage(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if read.Header.Get("Bcc") != "" || read.Header.Get("X-Evil") != "" {
		t.Errorf("%v", read.Header)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "Feed X-Evil: 1: Hello Bcc: all@spam.example body") || len([]rune(subject)) > 200 {
		t.Errorf("%q %v", subject, err)
	}
	for _, to := range []string{"ann@home.example\r\nBcc: x@y.example", "not an address", ""} {
		if _, err := m.compose(forward.Forwarding{Target: to}, []river.Entry{e}, time.Unix(0, 0)); fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("%q: %v", to, err)
		}
	}
}

func TestMailUsesConfiguredEncryption(t *testing.T) {
	t.Parallel()
	h := httptest.NewTLSServer(nil)
	t.Cleanup(h.Close)
	server := &tls.Config{Certificates: h.TLS.Certificates}
	client := &tls.Config{RootCAs: h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	for _, c := range []struct {
		name, way string
		server    *mailServer
		user      string
		ok        bool
	}{
		{"starttls", MailSTARTTLS, &mailServer{starttls: true}, "", true},
		{"starttls and a password", "", &mailServer{starttls: true, auth: true}, "river", true},
		{"server without starttls", MailSTARTTLS, &mailServer{}, "", false},
		{"tls", MailTLS, &mailServer{}, "", true},
		{"tls and a password", MailTLS, &mailServer{auth: true}, "river", true},
		{"plain", MailPlain, &mailServer{}, "", true},
		{"plain and a password", MailPlain, &mailServer{auth: true}, "river", true},
		{"server without authentication", MailPlain, &mailServer{}, "river", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &mailServer{tls: server, starttls: c.server.starttls, auth: c.server.auth}
			s.start(t, c.way == MailTLS)
			m := &Mail{Server: s.addr, TLS: c.way, From: "river@news.example", User: c.user, Password: "secret", TLSConfig: client}
			err := m.send(t.Context(), forward.Forwarding{Target: "ann@home.example"}, []river.Entry{blueChalk()}, time.Now())
			if (err == nil) != c.ok || len(s.mails) != map[bool]int{true: 1}[c.ok] {
				t.Fatalf("%v; %d mails; %q", err, len(s.mails), s.commands)
			}
			if err != nil && (fault.CodeOf(err) != fault.Unavailable || fault.RetryAfter(err) == 0 || strings.Contains(err.Error(), "secret")) {
				t.Errorf("%v", err)
			}
			commands := strings.Join(s.commands, "\n")
			if auth := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00river\x00secret")); c.ok && c.user != "" && !strings.Contains(commands, auth) {
				t.Errorf("commands:\n%s", commands)
			}
		})
	}
}

func TestTemporaryAndPermanentMailServerErrorsAreDistinguished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		server *mailServer
		code   fault.Code
	}{
		{"unknown recipient", &mailServer{rcpt: "550 no such person"}, fault.Unreadable},
		{"later", &mailServer{rcpt: "450 later"}, fault.Unavailable},
		{"spam", &mailServer{data: "554 spam"}, fault.Unreadable},
		{"full", &mailServer{data: "452 full"}, fault.Unavailable},
		{"silent", &mailServer{silent: true}, fault.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &mailServer{rcpt: c.server.rcpt, data: c.server.data, silent: c.server.silent}
			s.start(t, false)
			m := &Mail{Server: s.addr, TLS: MailPlain, From: "river@news.example", Timeout: time.Minute}
			if s.silent {
				m.Timeout = 300 * time.Millisecond
			}
			err := m.send(t.Context(), forward.Forwarding{Target: "ann@home.example"}, []river.Entry{blueChalk()}, time.Now())
			if fault.CodeOf(err) != c.code {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &Mail{Server: "127.0.0.1:9", TLS: MailPlain, From: "river@news.example"}
	if err := m.send(ctx, forward.Forwarding{Target: "ann@home.example"}, []river.Entry{blueChalk()}, time.Now()); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

func TestInvalidMailSettingsAreRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m  Mail
		ok bool
	}{
		{Mail{Server: "mail.example", From: "a@b.example"}, true},
		{Mail{Server: "mail.example:2525", From: "A <a@b.example>", TLS: MailTLS}, true},
		{Mail{Server: "[2001:db8::1]", From: "a@b.example", TLS: MailPlain}, true},
		{Mail{Server: "[2001:db8::1]:25", From: "a@b.example", TLS: MailPlain}, true},
		{Mail{From: "a@b.example"}, false},
		{Mail{Server: "mail.example:99999", From: "a@b.example"}, false},
		{Mail{Server: "mail.example:smtp", From: "a@b.example"}, false},
		{Mail{Server: "mail.example"}, false},
		{Mail{Server: "mail.example", From: "a@b.example", TLS: "ssl"}, false},
	} {
		if err := c.m.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.m, err)
		}
	}
}
