package browsertest

import (
	"bufio"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cloudburst/lab/outside"
)

// mailbox is a mail server that stores every mail that it receives.
type mailbox struct {
	addr  string
	mu    sync.Mutex
	mails []string
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	m := &mailbox{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m
}

// serve handles one SMTP connection. It implements only the commands that the program uses to
// send mail.
func (m *mailbox) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	reply := func(line string) { _, _ = io.WriteString(c, line+"\r\n") }
	reply("220 mail.example ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "DATA":
			reply("354 go on")
			var mail strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil || line == ".\r\n" {
					break
				}
				mail.WriteString(line)
			}
			m.mu.Lock()
			m.mails = append(m.mails, strings.ReplaceAll(mail.String(), "=\r\n", ""))
			m.mu.Unlock()
			reply("250 kept")
		case "QUIT":
			reply("221 bye")
			return
		default:
			reply("250 ok")
		}
	}
}

// waitFor waits for a mail that contains part, and returns the first such mail.
func (m *mailbox) waitFor(t *testing.T, part string) (mail string) {
	t.Helper()
	outside.Until(t, "a mail with "+part+" arrives", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, one := range m.mails {
			if strings.Contains(one, part) {
				mail = one
				return true
			}
		}
		return false
	})
	return mail
}

func TestVisitorSubscribesByMailAndUnsubscribes(t *testing.T) {
	t.Parallel()
	box := newMailbox(t)
	cfg := conf(t)
	cfg.SMTP.Server, cfg.SMTP.From, cfg.SMTP.TLS = box.addr, "river@news.example", "none"
	p := start(t, cfg)
	alice := newTab(t, p.base)
	alice.newUser(p, "alice")
	alice.writes("Before anybody subscribed")
	v := newTab(t, p.base)
	v.open("/people/follow?user=alice")
	v.holds("alice does not send mail until she turns it on", `document.querySelector("#f-address") === null`)
	alice.open("/people")
	alice.click("#m-mail")
	alice.click("section[aria-labelledby=s-mine] button")
	alice.until("the choice is saved", `location.search.includes("done=saved") && document.querySelector("#m-mail").checked`)

	v.open("/people/follow?user=alice")
	v.fill("#f-address", "vera@home.example")
	v.click("section[aria-labelledby=s-mail] button")
	v.until("a mail is announced", `location.search.includes("done=asked")`)
	mail := box.waitFor(t, "Confirm")
	if !strings.Contains(mail, "receive the posts of alice") {
		t.Errorf("the mail is\n%s", mail)
	}
	v.open(regexp.MustCompile(`/feeds/notices/confirm\?token=(3D)?[\w-]+`).FindString(strings.ReplaceAll(mail, "token=3D", "token=")))
	v.click("main form button")
	v.until("the subscription is confirmed", `document.querySelector("h1").textContent.trim() === "Confirmed"`)

	alice.writes("Green slate")
	mail = box.waitFor(t, "Green slate")
	for _, want := range []string{"To: <vera@home.example>", "List-Unsubscribe: <" + p.base, "List-Unsubscribe-Post: List-Unsubscribe=One-Click", "text/plain", "text/html"} {
		if !strings.Contains(mail, want) {
			t.Errorf("the mail lacks %q:\n%s", want, mail)
		}
	}
	alice.open("/feeds/notices")
	alice.holds("alice sees the address", `document.querySelector("main").textContent.includes("vera@home.example")`)
	v.open(regexp.MustCompile(`/feeds/notices/end\?token=[\w-]+`).FindString(mail))
	v.click("main form button")
	v.until("the subscription has ended", `document.querySelector("h1").textContent.trim() === "Unsubscribed"`)
}
