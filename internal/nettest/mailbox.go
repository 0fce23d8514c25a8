package nettest

import (
	"bufio"
	"io"
	"mime/quotedprintable"
	"net"
	"strings"
	"sync"
	"testing"
)

// Mailbox is a mail server on loopback that keeps every mail. It speaks the part of SMTP that one
// mail needs, without encryption and login.
type Mailbox struct {
	Addr string // address of the server: host:port

	mu      sync.Mutex
	mails   []string
	refuses bool
	refused int
}

// NewMailbox starts a mail server that runs until the test ends.
func NewMailbox(t testing.TB) *Mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	m := &Mailbox{Addr: l.Addr().String()}
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

// Mails returns the mails so far, with their quoted-printable parts decoded.
func (m *Mailbox) Mails() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.mails...)
}

// Refuse makes the server refuse mails for now, or accept them again.
func (m *Mailbox) Refuse(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuses = yes
}

// Refused returns the number of refused mails.
func (m *Mailbox) Refused() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

func (m *Mailbox) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	reply := func(line string) { _, _ = io.WriteString(c, line+"\r\n") } // ignore errors: the client has disconnected
	reply("220 mail.example ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "DATA":
			reply("354 go on")
			reply(m.keep(in))
		case "QUIT":
			reply("221 bye")
			return
		default:
			reply("250 ok")
		}
	}
}

// keep reads a mail and returns the reply.
func (m *Mailbox) keep(in *bufio.Reader) string {
	var mail strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		mail.WriteString(strings.TrimPrefix(line, "."))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuses {
		m.refused++
		return "452 try later"
	}
	m.mails = append(m.mails, decoded(mail.String()))
	return "250 kept"
}

// decoded returns a mail with its body decoded from quoted-printable. Another body is unchanged.
func decoded(mail string) string {
	head, body, ok := strings.Cut(mail, "\r\n\r\n")
	if !ok {
		return mail
	}
	plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
	if err != nil {
		plain = []byte(body)
	}
	return head + "\r\n\r\n" + string(plain)
}
