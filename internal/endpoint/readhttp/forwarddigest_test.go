package readhttp

import (
	"fmt"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// digestMail sends a digest and returns the mail and its parts.
func digestMail(t *testing.T, m Mail, n forward.Forwarding, list []river.Entry) (head netmail.Header, text, html string) {
	t.Helper()
	s := (&mailServer{}).start(t, false)
	m.Server, m.TLS, m.From = s.addr, MailPlain, "river@news.example"
	n.ID, n.Via, n.Target, n.End = 7, forward.ViaEmail, "ann@home.example", "TOKEN"
	sender := &Sender{Mail: &m, Now: func() time.Time { return time.Date(2026, 3, 2, 7, 7, 0, 0, time.UTC) }}
	if err := sender.Forward(t.Context(), n, list); err != nil {
		t.Fatal(err)
	}
	read, err := netmail.ReadMessage(strings.NewReader(s.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	parts := mailParts(t, read)
	return read.Header, parts["text/plain"], parts["text/html"]
}

// wants fails the test if texts are missing or out of order.
func wants(t *testing.T, where, all string, texts ...string) {
	t.Helper()
	rest := strings.ReplaceAll(all, "\r\n", "\n")
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Errorf("the %s lacks %q, or in another order:\n%s", where, text, all)
			return
		}
		rest = after
	}
}

func TestDigestOfOneFeedIsGroupedByDay(t *testing.T) {
	t.Parallel()
	newer, untitled := blueChalk(), blueChalk()
	newer.ID, newer.SourceID, newer.Title, newer.At = 3, 5, "Red <chalk>", newer.At.AddDate(0, 0, 1)
	untitled.ID, untitled.SourceID, untitled.Title, untitled.Link = 4, 5, "", "javascript:alert(1)"
	old := blueChalk()
	old.SourceID = 5
	m := Mail{Site: func() string { return "https://news.example" }, Posts: func(forward.Forwarding) bool { return true }}
	head, text, html := digestMail(t, m, forward.Forwarding{Digest: forward.DigestWeekly, SourceID: 5, More: 2}, []river.Entry{newer, untitled, old})
	if got := head.Get("Subject"); got != "The chalk log: 5 posts, weekly digest of 2 March 2026" {
		t.Error(got)
	}
	if head.Get("List-Unsubscribe") != "<https://news.example/feeds/notices/end?token=TOKEN>" || head.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || head.Get("List-Id") != "<notice-7.news.example>" {
		t.Error(head)
	}
	wants(t, "text", text, "* Monday, 2 March 2026\n\nRed <chalk>\nhttp://chalk.example/blue\n\n\n* Sunday, 1 March 2026\n\nIt is blue.\n", "Blue chalk\n", "and 2 more: http://chalk.example/\n", "unsubscribe: https://news.example/feeds/notices/end?token=TOKEN")
	wants(t, "HTML", html, "<h2>Monday, 2 March 2026</h2>", `<a href="http://chalk.example/blue">Red &lt;chalk&gt;</a><br>`, "It is blue.", "<h2>Sunday, 1 March 2026</h2>", `<a href="http://chalk.example/">and 2 more</a>`, `<a href="https://news.example/feeds/notices/end?token=TOKEN">`)
	if strings.Contains(html, `href="javascript:`) {
		t.Errorf("a script is a link:\n%s", html)
	}
}

func TestDigestOfSeveralFeedsIsGroupedByFeed(t *testing.T) {
	t.Parallel()
	a, b, c := blueChalk(), blueChalk(), blueChalk()
	a.SourceID, b.SourceID, c.SourceID = 5, 6, 5
	b.Title, b.Source.Title, b.Source.Home = "Slate", "", ""
	b.Source.URL = "http://slate.example/rss.xml"
	c.Title = "Old chalk"
	m := Mail{Site: func() string { return "https://news.example" }}
	head, text, html := digestMail(t, m, forward.Forwarding{Digest: forward.DigestDaily, Category: "News\r\nX-Evil: 1", More: 1}, []river.Entry{a, b, c})
	if got := head.Get("Subject"); got != "News X-Evil: 1: 4 items, daily digest of 2 March 2026" {
		t.Error(got)
	}
	wants(t, "text", text, "* The chalk log\n", "Blue chalk\n", "Old chalk\n", "* http://slate.example/rss.xml\n", "Slate\n", "and 1 more: https://news.example/river\n")
	wants(t, "HTML", html, `<h2><a href="http://chalk.example/">The chalk log</a></h2>`, "<h2>http://slate.example/rss.xml</h2>")
	head, text, _ = digestMail(t, Mail{}, forward.Forwarding{Digest: forward.DigestDaily}, []river.Entry{a})
	if got := head.Get("Subject"); got != "1 item, daily digest of 2 March 2026" || strings.Contains(text, "* ") || head.Get("List-Unsubscribe") != "" {
		t.Errorf("%s\n%s", got, text)
	}
	if x, y := messageID(forward.Forwarding{ID: 7}, []river.Entry{a}), messageID(forward.Forwarding{ID: 7, More: 1}, []river.Entry{a}); x == y {
		t.Error(fmt.Sprint("digests of different items have the ID ", x))
	}
}
