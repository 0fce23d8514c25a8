package readhttp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"html/template"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wneessen/go-mail"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// Encryption of the connection to a mail server.
const (
	MailSTARTTLS = "starttls"
	MailTLS      = "tls"
	MailPlain    = "none"
)

// Mail sends mail through one mail server. The operator chooses the server, so its address is not
// checked.
type Mail struct {
	Server   string        // host, or host:port [587, 465 with MailTLS, 25 with MailPlain]
	From     string        // sender: an address, or a name with an address in angle brackets
	User     string        // "": the server requires no login
	Password string        // plain text
	TLS      string        // one of the constants above [MailSTARTTLS]
	Site     func() string // scheme and host of this server, for links; nil: mails have no links
	// Posts reports whether a forwarding sends posts of its author to a subscriber. That changes
	// the text of the mail that asks for consent. Nil: no forwarding does.
	Posts     func(n forward.Forwarding) bool
	Timeout   time.Duration // time limit for one message, including the connection [30 s]
	TLSConfig *tls.Config   // [the root certificates of the system]
}

// Check validates the settings. Its errors are fault.Invalid.
func (m *Mail) Check() error {
	if _, _, err := m.address(); err != nil {
		return fault.Wrap(fault.Invalid, err, "The mail server (smtp.server) is %q: it should be like mail.example.org:587.", m.Server)
	}
	if _, err := netmail.ParseAddress(m.From); err != nil {
		return fault.Wrap(fault.Invalid, err, "The sender of mail (smtp.from) is %q: it should be an address, or a name with an address in angle brackets.", m.From)
	}
	switch m.TLS {
	case "", MailSTARTTLS, MailTLS, MailPlain:
		return nil
	}
	return fault.New(fault.Invalid, "The encryption of mail (smtp.tls) is %q: it should be %s, %s or %s.", m.TLS, MailSTARTTLS, MailTLS, MailPlain)
}

func (m *Mail) address() (host string, port int, err error) {
	usual := map[string]string{MailTLS: "465", MailPlain: "25"}[m.TLS]
	host, p := m.Server, cmp.Or(usual, "587")
	if strings.Contains(strings.TrimSuffix(m.Server, "]"), ":") && !strings.HasSuffix(m.Server, "]") {
		if host, p, err = net.SplitHostPort(m.Server); err != nil {
			return "", 0, err
		}
	}
	host = strings.Trim(host, "[]")
	port, err = strconv.Atoi(p)
	if err == nil && (host == "" || port < 1 || port > 65535) {
		err = errors.New("no host or an invalid port")
	}
	return host, port, err
}

// retryDelay is the delay before the next attempt if the mail server is busy.
const retryDelay = 5 * time.Minute

// send sends one mail with all items.
//
// spec:cloudburst#forwarding-mail
func (m *Mail) send(ctx context.Context, n forward.Forwarding, list []river.Entry, now time.Time) error {
	msg, err := m.compose(n, list, now)
	if err != nil {
		return err
	}
	return m.deliver(ctx, n, msg)
}

// ask sends the mail with the link for consent. Except for the account name, the user who requested
// it cannot choose any text in the mail.
func (m *Mail) ask(ctx context.Context, n forward.Forwarding, token string, now time.Time) error {
	if m.Site == nil {
		return fault.New(fault.Unavailable, "This server does not know its public URL, so its mails cannot contain a link.")
	}
	msg, domain, err := m.message(n, now)
	if err != nil {
		return err
	}
	site := m.Site()
	host := strings.TrimPrefix(strings.TrimPrefix(site, "https://"), "http://")
	msg.Subject("Confirm: items from " + host)
	msg.SetMessageIDWithValue(rand.Text() + "@" + domain)
	why := oneLine(n.Sender, 60) + " on " + host + " wants to forward new items from their feed reader to this address.\n\n"
	if m.Posts != nil && m.Posts(n) {
		msg.Subject("Confirm: posts of " + oneLine(n.Sender, 60) + " on " + host)
		why = "Somebody, probably you, entered this address to receive the posts of " + oneLine(n.Sender, 60) + " on " + host + " by e-mail.\n\n"
	}
	why += map[string]string{forward.DigestDaily: "It would be one mail a day.\n\n", forward.DigestWeekly: "It would be one mail a week, on Monday.\n\n"}[n.Digest]
	text := why +
		"If you want that, open this page and confirm:\n" + m.link("confirm", token) + "\n\n" +
		"The link is valid for 7 days. If you do not want it, do nothing: nothing else will be sent.\n"
	if n.End != "" {
		text += "To refuse permanently: " + m.link("end", n.End) + "\n"
	}
	msg.SetBodyString(mail.TypeTextPlain, text)
	return m.deliver(ctx, n, msg)
}

// link returns the URL of a page for the recipient of a mail. The URL contains token.
func (m *Mail) link(page, token string) string {
	return m.Site() + "/feeds/notices/" + page + "?token=" + token
}

// deliver sends one mail to the mail server.
func (m *Mail) deliver(ctx context.Context, n forward.Forwarding, msg *mail.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout())
	defer cancel()
	c, err := m.client(ctx)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "This server's settings for mail do not work; its operator has to fix them.")
	}
	if err := c.DialWithContext(ctx); err != nil {
		return busy(err)
	}
	err = c.Send(msg)
	c.Close()
	var sent *mail.SendError
	switch {
	case err == nil || msg.IsDelivered():
		return nil
	case errors.As(err, &sent) && !sent.IsTemp() && (sent.Reason == mail.ErrSMTPRcptTo || sent.Reason == mail.ErrSMTPDataClose):
		return fault.Wrap(fault.Unreadable, err, "The mail server does not accept mail for %s.", n.Target)
	}
	return busy(err)
}

func busy(err error) error {
	f := fault.Wrap(fault.Unavailable, err, "The mail server did not accept the mail; this server will try again.")
	f.RetryAfter = retryDelay
	return f
}

func (m *Mail) timeout() time.Duration { return cmp.Or(m.Timeout, 30*time.Second) }

// client returns a client for one message that stops when ctx ends. The time limit of the library
// would start again at each step.
func (m *Mail) client(ctx context.Context) (*mail.Client, error) {
	host, port, err := m.address()
	if err != nil {
		return nil, err
	}
	secure := &tls.Config{}
	if m.TLSConfig != nil {
		secure = m.TLSConfig.Clone()
	}
	secure.ServerName = cmp.Or(secure.ServerName, host)
	policy, auth := mail.TLSMandatory, mail.SMTPAuthAutoDiscover
	switch m.TLS {
	case MailTLS:
		policy = mail.TLSOpportunistic // the connection already uses TLS
	case MailPlain:
		policy, auth = mail.NoTLS, mail.SMTPAuthPlainNoEnc
	}
	options := []mail.Option{
		mail.WithPort(port), mail.WithTimeout(m.timeout()), mail.WithTLSPolicy(policy), mail.WithTLSConfig(secure), mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithDialContextFunc(func(dial context.Context, network, address string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(dial, network, address)
			if err != nil {
				return nil, err
			}
			c := &ctxConn{Conn: raw, stop: context.AfterFunc(ctx, func() { raw.Close() })}
			if m.TLS == MailTLS {
				return tls.Client(c, secure), nil
			}
			return c, nil
		}),
	}
	if m.User != "" {
		options = append(options, mail.WithSMTPAuth(auth), mail.WithUsername(m.User), mail.WithPassword(m.Password))
	}
	return mail.NewClient(host, options...)
}

// ctxConn is a connection that is closed when a context ends.
type ctxConn struct {
	net.Conn
	stop func() bool
}

func (c *ctxConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// message returns a mail to the target of a forwarding, with headers by which programs identify it.
// domain is the domain of the sender's address.
//
// spec:cloudburst#forwarding-unsubscribe
func (m *Mail) message(n forward.Forwarding, now time.Time) (msg *mail.Msg, domain string, err error) {
	from, err := netmail.ParseAddress(m.From)
	if err != nil {
		return nil, "", fault.Wrap(fault.Unavailable, err, "This server's settings for mail do not work; its operator has to fix them.")
	}
	domain = from.Address[strings.LastIndexByte(from.Address, '@')+1:]
	msg = mail.NewMsg(mail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	if err := msg.To(n.Target); err != nil {
		return nil, "", fault.Wrap(fault.Unreadable, err, "%q is not a mail address.", n.Target)
	}
	msg.SetDateWithValue(now)
	msg.SetGenHeader("List-Id", "<notice-"+strconv.FormatInt(n.ID, 10)+"."+domain+">")
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Site != nil && n.End != "" {
		// Each header must stay on one line, even if the link is long, because a link cannot be
		// folded.
		msg.SetGenHeaderPreformatted("List-Unsubscribe", "<"+m.link("end", n.End)+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	return msg, domain, nil
}

// compose returns the mail with items, as text and HTML.
func (m *Mail) compose(n forward.Forwarding, list []river.Entry, now time.Time) (*mail.Msg, error) {
	msg, domain, err := m.message(n, now)
	if err != nil {
		return nil, err
	}
	msg.SetMessageIDWithValue(messageID(n, list) + "@" + domain)
	end := ""
	if m.Site != nil && n.End != "" {
		end = m.link("end", n.End)
	}
	subject, text, html := subjectOf(list), mailText(list, end), ""
	if n.Digest == forward.DigestNone {
		html, err = mailHTML(list, end)
	} else {
		d := m.digestOf(n, list, now, end)
		subject, text = d.Subject, d.text()
		html, err = d.html()
	}
	if err != nil {
		return nil, err
	}
	msg.Subject(subject)
	msg.SetBodyString(mail.TypeTextPlain, text)
	msg.AddAlternativeString(mail.TypeTextHTML, html)
	return msg, nil
}

// oneLine converts a text for use in a header: it removes line breaks and control characters, and
// limits the length.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit-1]) + "…"
	}
	return s
}

func subjectOf(list []river.Entry) string {
	e := &list[0]
	s := oneLine(cmp.Or(e.Title, e.Text, e.Link), 120)
	if feed := oneLine(e.Source.Title, 60); feed != "" {
		s = feed + ": " + s
	}
	if len(list) > 1 {
		s += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	return s
}

const (
	maxMailText = 4000     // maximum characters of an item in the text part
	maxMailHTML = 64 << 10 // maximum bytes of an item's HTML
)

func mailText(list []river.Entry, end string) string {
	var b strings.Builder
	for i := range list {
		e := &list[i]
		if i > 0 {
			b.WriteString("\n* * *\n\n")
		}
		for _, line := range []string{oneLine(e.Title, 300), oneLine(e.Source.Title, 200), e.Link} {
			if line != "" {
				b.WriteString(line + "\n")
			}
		}
		if text := oneLine(e.Text, maxMailText); text != "" {
			b.WriteString("\n" + text + "\n")
		}
	}
	return b.String() + endText(end)
}

// endWords is the text of the link at the end of a mail.
const endWords = "Change how often mails arrive, or unsubscribe"

// endText returns the last lines of the text part of a mail.
func endText(end string) string {
	if end == "" {
		return ""
	}
	return "\n--\n" + endWords + ": " + end + "\n"
}

// mailPage is the HTML of a mail. Item.HTML is sanitized; everything else is escaped.
const mailPage = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>{{.Subject}}</title></head><body>
{{range .Items}}<article>
{{if .Title}}<h2>{{if .Link}}<a href="{{.Link}}">{{.Title}}</a>{{else}}{{.Title}}{{end}}</h2>
{{end}}<p>{{if .Home}}<a href="{{.Home}}">{{.Feed}}</a>{{else}}{{.Feed}}{{end}}{{if not .Title}}{{if .Link}} · <a href="{{.Link}}">link</a>{{end}}{{end}}</p>
{{if .HTML}}<div>{{.HTML}}</div>{{else}}<p>{{.Text}}</p>{{end}}
{{range .Files}}<p><a href="{{.}}">{{.}}</a></p>
{{end}}</article>
<hr>
{{end}}{{if .End}}<p><a href="{{.End}}">` + endWords + `</a></p>
{{end}}</body></html>
`

type mailItem struct {
	Title, Link, Feed, Home, Text string
	HTML                          template.HTML
	Files                         []string
}

func mailHTML(list []river.Entry, end string) (string, error) {
	page, err := template.New("mail").Parse(mailPage)
	if err != nil {
		return "", err
	}
	items := make([]mailItem, len(list))
	for i := range list {
		e := &list[i]
		it := mailItem{Title: oneLine(e.Title, 300), Link: e.Link, Feed: oneLine(e.Source.Title, 200), Home: e.Source.Home, Text: oneLine(e.Text, maxMailText)}
		if len(e.HTML) <= maxMailHTML {
			it.HTML = template.HTML(e.HTML) // sanitized before it was stored
		}
		for _, f := range e.Enclosures {
			it.Files = append(it.Files, f.URL)
		}
		items[i] = it
	}
	var b bytes.Buffer
	err = page.Execute(&b, struct {
		Subject, End string
		Items        []mailItem
	}{subjectOf(list), end, items})
	return b.String(), err
}
