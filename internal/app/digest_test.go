package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/config"
	"cloudburst/internal/hub/clock"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river/forward"
)

// mailScene is the whole program with a mail server, and with a clock that the test sets.
type mailScene struct {
	*App
	t    *testing.T
	cfg  config.Config
	box  *nettest.Mailbox
	seen int // number of mails that the test has already checked
	stop func()

	mu    sync.Mutex
	from  time.Time // real time at which setClock set the clock to shown
	shown time.Time
}

func newMailScene(t *testing.T, begin time.Time) *mailScene {
	t.Helper()
	s := &mailScene{t: t, cfg: config.Default(), box: nettest.NewMailbox(t), from: time.Now(), shown: begin}
	s.cfg.Listen, s.cfg.Admin.Listen, s.cfg.Data = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	s.cfg.PublicURL = "http://news.example"
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s.cfg.Egress.AllowFetch, s.cfg.Egress.AllowCallback = loop, loop
	s.cfg.SMTP.Server, s.cfg.SMTP.From, s.cfg.SMTP.TLS = s.box.Addr, "river@news.example", "none"
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *mailScene) start() {
	s.t.Helper()
	s.App = New(s.cfg, slog.New(slog.NewTextHandler(s.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	begin := s.time()
	s.clock = &clock.Steady{Wall: s.time, Mono: func() time.Duration { return s.time().Sub(begin) }}
	if err := s.open(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	a := s.App
	go func() { ended <- a.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("stop: %v", err)
		}
		if err := a.Close(); err != nil {
			s.t.Error(err)
		}
	})
	until(s.t, "it listens", func() bool { return a.names.Served() && a.site.Load() != nil })
}

func (s *mailScene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Add(time.Since(s.from))
}

// setClock sets the clock. Then it waits until the program has handled all forwardings that are
// due.
func (s *mailScene) setClock(text string) {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.shown, s.from = at, time.Now()
	s.mu.Unlock()
	s.settle()
}

// settle waits until no forwarding is due and no forwarding is in progress.
func (s *mailScene) settle() {
	s.t.Helper()
	s.river.Wake()
	until(s.t, "nothing is due to be sent", func() bool {
		list, err := s.river.Store.Forwardings(s.t.Context(), "")
		return err == nil && !slices.ContainsFunc(list, func(n forward.Forwarding) bool {
			return n.Claim != 0 || !n.NextAt.IsZero() && !n.NextAt.After(s.clock.Now())
		})
	})
}

// write publishes a post of alice. Then it waits for the mail to the subscriber who receives each
// post in its own mail.
func (s *mailScene) write(title string) {
	s.t.Helper()
	_, err := s.posts.Save(s.t.Context(), author.Edit{User: "alice", To: author.Published, Via: "test", Change: func(c *author.Content) error {
		c.Title, c.Source = title, "Text of "+title
		return nil
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	until(s.t, "the mail of "+title, func() bool {
		s.river.Wake()
		return slices.ContainsFunc(s.box.Mails(), func(m string) bool {
			return strings.Contains(m, "To: <each@x.example>") && strings.Contains(m, title)
		})
	})
	s.settle()
}

// post sends a form as a visitor without an account.
func (s *mailScene) post(path string, form url.Values) {
	s.t.Helper()
	addr, err := os.ReadFile(filepath.Join(s.cfg.Data, ListenAddrFile))
	if err != nil {
		s.t.Fatal(err)
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.PostForm("http://"+strings.TrimSpace(string(addr))+path, form)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode >= 400 {
		s.t.Fatalf("%s: %s", path, res.Status)
	}
}

// mails returns the mails since the last call as "recipient: subject", sorted.
func (s *mailScene) mails() []string {
	all := s.box.Mails()
	var out []string
	for _, m := range all[s.seen:] {
		out = append(out, header(m, "To")+": "+header(m, "Subject"))
	}
	s.seen = len(all)
	slices.Sort(out)
	return out
}

// lastTo returns the text of the last mail to an address.
func (s *mailScene) lastTo(address string) string {
	s.t.Helper()
	all := s.box.Mails()
	for i := len(all) - 1; i >= 0; i-- {
		if header(all[i], "To") == "<"+address+">" {
			return all[i]
		}
	}
	s.t.Fatalf("no mail to %s", address)
	return ""
}

func header(mail, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `: (.*(?:\r\n .*)*)\r$`).FindStringSubmatch(mail)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1], "\r\n", "")
}

func (s *mailScene) wantMails(when string, want ...string) {
	s.t.Helper()
	if got := s.mails(); !slices.Equal(got, want) {
		s.t.Errorf("%s: %q; want %q", when, got, want)
	}
}

// linkIn returns the path of a link to page in a mail.
func linkIn(mail, page string) string {
	return regexp.MustCompile(`/feeds/notices/` + page + `\?token=[\w-]+`).FindString(mail)
}

// subscribe subscribes an e-mail address to alice's posts, as a visitor without an account.
func (s *mailScene) subscribe(address, digest string) {
	s.t.Helper()
	s.post("/people/mail", url.Values{"user": {"alice"}, "address": {address}, "digest": {digest}})
	s.settle()
}

func TestSubscribersReceiveEachPostOrADailyOrWeeklyDigest(t *testing.T) {
	t.Parallel()
	s := newMailScene(t, time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)) // 3 March 2026 is a Tuesday
	if _, err := s.accounts.Add(t.Context(), "alice", "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if err := s.accounts.SetPreferences(t.Context(), "alice", account.Preferences{MailSubscribers: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.posts.Save(t.Context(), author.Edit{User: "alice", To: author.Published, Via: "test", Change: func(c *author.Content) error { c.Title = "Before anybody subscribed"; return nil }}); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"each@x.example", ""}, {"daily@x.example", "daily"}, {"weekly@x.example", "weekly"}} {
		s.subscribe(c[0], c[1])
		s.post(linkIn(s.lastTo(c[0]), "confirm"), nil)
	}
	until(t, "the feed has been read", func() bool {
		s.river.Wake()
		list, err := s.river.Store.Forwardings(t.Context(), "")
		if err != nil || len(list) != 3 {
			return false
		}
		src, err := s.river.Store.Source(t.Context(), list[0].SourceID)
		return err == nil && src.Items > 0
	})
	s.wantMails("asked", "<daily@x.example>: Confirm: posts of alice on news.example", "<each@x.example>: Confirm: posts of alice on news.example", "<weekly@x.example>: Confirm: posts of alice on news.example")

	s.write("Tuesday")
	s.wantMails("on Tuesday", "<each@x.example>: alice: Tuesday")
	s.setClock("2026-03-04T08:30:00Z")
	s.wantMails("on Wednesday", "<daily@x.example>: alice: 1 post, daily digest of 4 March 2026")
	s.write("Wednesday one")
	s.write("Wednesday two")
	s.subscribe("daily@x.example", "weekly") // anybody can send this form, so it must not change the choice of an existing subscriber
	s.wantMails("on Wednesday", "<each@x.example>: alice: Wednesday one", "<each@x.example>: alice: Wednesday two")
	if n, err := (hosting{s.App}).subscriptions().Count(t.Context(), "alice"); err != nil || n.Each != 1 || n.Daily != 1 || n.Weekly != 1 {
		t.Errorf("%+v %v", n, err)
	}

	// A restart and a mail server that rejects mails must not lose any mail.
	s.stop()
	s.start()
	s.box.Refuse(true)
	s.setClock("2026-03-05T08:30:00Z")
	if s.box.Refused() == 0 {
		t.Error("no mail was tried on Thursday")
	}
	s.wantMails("refused")
	s.box.Refuse(false)
	s.setClock("2026-03-05T09:30:00Z")
	s.wantMails("on Thursday", "<daily@x.example>: alice: 2 posts, daily digest of 5 March 2026")
	mail := s.lastTo("daily@x.example")
	if a, b := strings.Index(mail, "Wednesday two"), strings.Index(mail, "Wednesday one"); a < 0 || b < a || strings.Contains(mail, "Tuesday") {
		t.Errorf("the digest is\n%s", mail)
	}

	// The link in a mail changes the digest without an account.
	s.post(linkIn(mail, "end"), url.Values{"digest": {"weekly"}})
	s.write("Thursday")
	s.mails()
	s.setClock("2026-03-06T08:30:00Z")
	s.wantMails("on Friday")
	s.setClock("2026-03-09T08:30:00Z")
	s.wantMails("on Monday", "<daily@x.example>: alice: 1 post, weekly digest of 9 March 2026", "<weekly@x.example>: alice: 4 posts, weekly digest of 9 March 2026")
	mail = s.lastTo("weekly@x.example")
	for _, want := range []string{"Tuesday, 3 March 2026", "Thursday, 5 March 2026", "text/plain", "text/html", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"} {
		if !strings.Contains(mail, want) {
			t.Errorf("the weekly digest lacks %q:\n%s", want, mail)
		}
	}

	s.post(linkIn(mail, "end"), url.Values{"List-Unsubscribe": {"One-Click"}})
	s.write("Monday")
	s.mails()
	s.setClock("2026-03-16T08:30:00Z")
	s.wantMails("a week later", "<daily@x.example>: alice: 1 post, weekly digest of 16 March 2026")
	s.setClock("2026-03-23T08:30:00Z")
	s.wantMails("after a week without posts")
	if got := fmt.Sprint(s.river.Store.NextForwarding(t.Context())); !strings.HasPrefix(got, "0001-01-01") {
		t.Errorf("the next forwarding is due at %s", got)
	}
}
