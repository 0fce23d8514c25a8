package hubhttp

import (
	"bufio"
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/endpoint/endpointtest"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/protocol/websub"

	"github.com/google/go-cmp/cmp"
)

func websubSubscriber(secret string) hub.Subscription {
	return hub.Subscription{Protocol: hub.WebSub, Callback: websubCB, Secret: secret}
}

func TestDeliveryBodyIsTheUnchangedContent(t *testing.T) {
	t.Parallel()
	changed := time.Date(2009, 10, 16, 12, 0, 0, 1500, time.UTC)
	body := []byte("{\"x\":\"\x00ü\"}\r\n")
	links := `<http://hub.example/websub>; rel="hub", <` + feed + `>; rel="self"`
	signed := func(method, secret string) string {
		s, err := websub.Sign(method, secret, body)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name, secret, method, given string
		body                        []byte
		contentType                 string
		header                      []string
	}{
		{"plain", "", "", "application/json", body, "application/json", nil},
		{"explicit content type", "", "", "TEXT/Plain ;charset=\"x\"  ü", body, "TEXT/Plain ;charset=\"x\"  ü", nil},
		{"without content type", "", "", "", body, "application/octet-stream", nil},
		{"content type with line breaks", "", "", "text/plain\r\nX-Evil: 1\x7f", body, "text/plainX-Evil: 1", nil},
		{"too long content type", "", "", strings.Repeat("x", 1001), body, "application/octet-stream", nil},
		{"signed", "geheim", "", "application/json", body, "application/json", []string{"X-Hub-Signature", signed("sha256", "geheim")}},
		{"signed with sha1", "geheim", "sha1", "application/json", body, "application/json", []string{"X-Hub-Signature", signed("sha1", "geheim")}},
		{"signed with sha512", "ü", "sha512", "application/json", body, "application/json", []string{"X-Hub-Signature", signed("sha512", "ü")}},
		{"thin", "", "", "application/json", nil, "application/json", nil},
	} {
		to := topic(feed)
		to.ChangedAt = changed
		n := &Notifier{HubURL: func() string { return websubURL }, Signature: c.method}
		m, err := n.websubMessage(new(websubSubscriber(c.secret)), &to, &hub.Content{Type: c.given, Body: c.body}, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := &fetch.Message{
			URL: websubCB, ContentType: c.contentType, Body: c.body,
			Header: append([]string{"Link", links, "X-Hub-Hops", "2", "X-Hub-Changed-At", "2009-10-16T12:00:00.0000015Z"}, c.header...),
		}
		if d := cmp.Diff(want, m); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if len(c.body) > 0 && &m.Body[0] != &body[0] {
			t.Errorf("%s: the body was copied", c.name)
		}
	}
}

func TestDeliveryWithoutContentOrMethodFails(t *testing.T) {
	t.Parallel()
	n := &Notifier{Sender: answering(fetch.Reply{Status: 200}), Signature: "md5"}
	if _, err := n.websubMessage(new(websubSubscriber("")), new(topic(feed)), nil, 0); err == nil {
		t.Error("no content was delivered")
	}
	if _, err := n.websubMessage(new(websubSubscriber("geheim")), new(topic(feed)), &hub.Content{Body: []byte("x")}, 0); err == nil {
		t.Error("an unknown method signed")
	}
	if r := n.Notify(t.Context(), new(websubSubscriber("")), new(topic(feed)), nil, 0); r.OK || r.Text == "" {
		t.Errorf("%+v", r)
	}
}

func TestTopicCannotInjectDeliveryHeaders(t *testing.T) {
	t.Parallel()
	n := &Notifier{HubURL: func() string { return websubURL }}
	for _, evil := range []string{"http://t.example/>; rel=\"hub\", <http://evil.example/", "http://t.example/\r\nX-Evil: 1", "http://t.example/\"\x00ü"} {
		m, err := n.websubMessage(new(websubSubscriber("")), new(topic(evil)), &hub.Content{Body: []byte("x")}, 0)
		if err != nil {
			t.Fatal(err)
		}
		link := m.Header[1]
		if m.Header[0] != "Link" || strings.Count(link, "<") != 2 || strings.Count(link, `"`) != 4 || strings.ContainsFunc(link, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q: header %q", evil, link)
		}
	}
}

func TestCachedMessageIsRebuiltIfItsContentChanges(t *testing.T) {
	t.Parallel()
	target := websubURL
	n := &Notifier{HubURL: func() string { return target }}
	to, content, hops := topic(feed), &hub.Content{Type: "text/xml", Body: []byte("x")}, 0
	message := func() *fetch.Message {
		t.Helper()
		m, err := n.websubMessage(new(websubSubscriber("")), &to, content, hops)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := message()
	if again := message(); &first.Header[0] != &again.Header[0] {
		t.Error("the same header was made twice")
	}
	for name, change := range map[string]func(){
		"hub":     func() { target += "2" },
		"type":    func() { content = &hub.Content{Type: "text/plain", Body: content.Body} },
		"hops":    func() { hops++ },
		"time":    func() { to.ChangedAt = time.Unix(1, 0) },
		"address": func() { to.URL += "?2" }, // the id stays the same, so that both topics use the same slot of the cache
	} {
		before := message()
		change()
		if after := message(); cmp.Equal(before, after) {
			t.Errorf("%s: %+v", name, after)
		}
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				u := fmt.Sprintf("http://feeds.example/%d-%d", i%300, w)
				m, err := n.websubMessage(new(websubSubscriber("s")), new(topic(u)), content, 0)
				if err != nil || !strings.Contains(m.Header[1], u+">") {
					t.Errorf("%s: %+v, %v", u, m, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestDeliveryDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	s := answering(fetch.Reply{Status: 301, Location: "https://agg.example:5337/secret/cb"})
	r := (&Notifier{Sender: s}).Notify(t.Context(), new(websubSubscriber("")), new(topic(feed)), &hub.Content{Body: []byte("x")}, 0)
	if r.OK || r.Gone || len(s.sent) != 1 {
		t.Errorf("%+v, %d requests", r, len(s.sent))
	}
	for status, gone := range map[int]bool{410: true, 404: false, 500: false} {
		if r := (&Notifier{Sender: answering(fetch.Reply{Status: status})}).Notify(t.Context(), new(websubSubscriber("")), new(topic(feed)), &hub.Content{Body: []byte("x")}, 0); r.OK || r.Gone != gone {
			t.Errorf("%d: %+v", status, r)
		}
	}
}

// oneCallback is a subscriber whose callback receives one request.
type oneCallback struct {
	mode, topic, secret string
	confirmed           chan websub.Confirmation
	denied              chan websub.Denial
	delivered           chan websub.Delivery
}

func (c *oneCallback) Confirm(_ context.Context, q websub.Confirmation) error {
	if q.Mode != c.mode || q.Topic != c.topic || q.Token != "cb" {
		return websub.ErrNotWanted
	}
	c.confirmed <- q
	return nil
}

func (c *oneCallback) Denied(_ context.Context, d websub.Denial) { c.denied <- d }

func (c *oneCallback) Wanted(context.Context, string) (websub.Wanted, error) {
	return websub.Wanted{Topic: c.topic, Secret: c.secret}, nil
}

func (c *oneCallback) Deliver(_ context.Context, d websub.Delivery) error {
	c.delivered <- d
	return nil
}

// TestHubNotifiesWebSubSubscriberOverHTTP replaces only the subscriber's server by a fake.
func TestHubNotifiesWebSubSubscriberOverHTTP(t *testing.T) {
	t.Parallel()
	const topicURL = feed + "?a=1&b=%2F"
	c := &oneCallback{
		mode: hub.ModeSubscribe, topic: topicURL, secret: "geheim",
		confirmed: make(chan websub.Confirmation, 4), denied: make(chan websub.Denial, 4), delivered: make(chan websub.Delivery, 4),
	}
	srv := httptest.NewServer(&websub.Subscriber{Callbacks: c, Log: logTo(t)})
	t.Cleanup(srv.Close)
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard:  &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true},
		Bucket: -1,
	})
	t.Cleanup(sender.Close)
	a := &Asker{Sender: sender}
	in := hub.Intent{Topic: topicURL, Callback: srv.URL + "/cb?hub.mode=mine&x", Mode: hub.ModeSubscribe, Lease: 2 * time.Hour}
	if x, err := a.Confirm(t.Context(), in); err != nil {
		t.Fatalf("%v %+v", err, x)
	}
	if q := <-c.confirmed; q.Lease != 2*time.Hour {
		t.Errorf("%+v", q)
	}
	in.Mode = hub.ModeUnsubscribe
	if _, err := a.Confirm(t.Context(), in); fault.CodeOf(err) != fault.Refused || !strings.Contains(err.Error(), "404") {
		t.Errorf("delivery that is not pending: %v", err)
	}
	in.Mode, in.Reason = hub.ModeDenied, "No room & no time."
	if _, err := a.Deny(t.Context(), in); err != nil {
		t.Error(err)
	}
	if d := <-c.denied; d.Reason != in.Reason || d.Topic != topicURL {
		t.Errorf("%+v", d)
	}
	body := []byte(strings.Repeat("<rss>\x00ü</rss>\r\n", 20_000))
	sub := hub.Subscription{Protocol: hub.WebSub, Callback: in.Callback, Secret: "geheim"}
	for _, method := range []string{"", "sha1", "sha384", "sha512"} {
		n := &Notifier{Sender: sender, HubURL: func() string { return websubURL }, Signature: method}
		if r := n.Notify(t.Context(), &sub, new(topic(topicURL)), &hub.Content{Type: "application/rss+xml; charset=x", Body: body}, 0); !r.OK {
			t.Fatalf("%s: %+v", method, r)
		}
		d := <-c.delivered
		if !d.Verified || d.Hub != websubURL || d.Self != topicURL || d.ContentType != "application/rss+xml; charset=x" || string(d.Body) != string(body) {
			t.Errorf("%s: verified %t, %s, %s, %s, %d bytes", method, d.Verified, d.Hub, d.Self, d.ContentType, len(d.Body))
		}
	}
	srv.Close()
	in.Mode = hub.ModeSubscribe
	if _, err := a.Confirm(t.Context(), in); fault.CodeOf(err) != fault.Unreadable || fault.Message(err) != unanswered {
		t.Errorf("no server: %v", err)
	}
}

func TestDeliveryAllocatesLittleMemoryExceptForItsSignature(t *testing.T) {
	n := &Notifier{HubURL: func() string { return websubURL }}
	to, content := topic(feed), &hub.Content{Type: "text/xml", Body: make([]byte, 200_000)}
	for secret, limit := range map[string]float64{"": 1, "geheim": 16} {
		sub := websubSubscriber(secret)
		if got := testing.AllocsPerRun(100, func() {
			if _, err := n.websubMessage(&sub, &to, content, 0); err != nil {
				t.Error(err)
			}
		}); got > limit {
			t.Errorf("secret %q: %.1f allocations", secret, got)
		}
	}
}

func BenchmarkEncodeWebSubNotification(b *testing.B) {
	for _, size := range []int{2_000, 200_000} {
		for _, secret := range []string{"", "a secret of some length"} {
			b.Run(fmt.Sprintf("%dkB/signed=%t", size/1000, secret != ""), func(b *testing.B) {
				n := &Notifier{HubURL: func() string { return websubURL }}
				sub, to := websubSubscriber(secret), topic(feed)
				content := &hub.Content{Type: "application/rss+xml", Body: make([]byte, size)}
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := n.websubMessage(&sub, &to, content, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestPythonWebSubSubscriberIsNotified sends a verification, a denial and a delivery to a
// program that shares no code with this one.
func TestPythonWebSubSubscriberIsNotified(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	const topicURL = feed + "?a=1&b=%2F"
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/clients/websub_callback.py", topicURL, "geheim ü")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the callback did not start")
	}
	callback := lines.Text()
	printed := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("it printed %q, want %q", lines.Text(), want)
		}
	}
	sender := fetch.NewSender(fetch.SenderOptions{
		Guard:  &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Callback: true},
		Bucket: -1,
	})
	defer sender.Close()
	a := &Asker{Sender: sender}
	for mode, want := range map[string]string{hub.ModeSubscribe: "subscribe 1 7200 None", hub.ModeUnsubscribe: "unsubscribe 1 None None"} {
		if x, err := a.Confirm(t.Context(), hub.Intent{Topic: topicURL, Callback: callback, Mode: mode, Lease: 2 * time.Hour}); err != nil {
			t.Fatalf("%s: %v %+v", mode, err, x)
		}
		printed(want)
	}
	if _, err := a.Confirm(t.Context(), hub.Intent{Topic: feed, Callback: callback, Mode: hub.ModeSubscribe}); fault.CodeOf(err) != fault.Refused {
		t.Errorf("another topic: %v", err)
	}
	if _, err := a.Deny(t.Context(), hub.Intent{Topic: topicURL, Callback: callback, Reason: "No & never."}); err != nil {
		t.Error(err)
	}
	printed("denied 1 None No & never.")
	content := &hub.Content{Type: "application/feed+json; charset=utf-8", Body: []byte(strings.Repeat("\x00ü\r\n", 5000))}
	sub := hub.Subscription{Protocol: hub.WebSub, Callback: callback}
	for _, method := range []string{"none", "sha1", "sha256", "sha384", "sha512"} {
		n := &Notifier{Sender: sender, HubURL: func() string { return websubURL }, Signature: method}
		right := "False"
		if method != "none" {
			sub.Secret, right = "geheim ü", "True"
		}
		if r := n.Notify(t.Context(), &sub, new(topic(topicURL)), content, 0); !r.OK {
			t.Fatalf("%s: %+v", method, r)
		}
		printed("content " + method + " " + right + " application/feed+json; charset=utf-8 25000 " + websubURL + " True")
	}
}

func TestCurlSubscribesByWebSub(t *testing.T) {
	t.Parallel()
	h := &fakeHub{}
	target := listen(t, h).URL + "/websub"
	for _, c := range []struct {
		want string
		args []string
	}{
		{" 202", []string{"-d", "hub.mode=subscribe", "--data-urlencode", "hub.topic=" + feed + "?a=1&b=ü", "--data-urlencode", "hub.callback=" + websubCB, "-d", "hub.lease_seconds=600&hub.secret=geheim", target}},
		{" 202", []string{"-H", "Content-Type:", "-d", "hub.mode=unsubscribe&hub.topic=" + feed + "&hub.callback=http://agg.example/", target}},
		{" 204", []string{"-d", "hub.mode=publish&hub.url=" + feed, "-d", "hub.url=http://other.example/", target}},
		{"hub.callback is missing; a subscription needs hub.mode, hub.callback and hub.topic.\n 400", []string{"-d", "hub.mode=subscribe&hub.topic=" + feed, target}},
		{" 415", []string{"-F", "hub.mode=publish", target}},
		{"This is a WebSub hub.", []string{target}},
	} {
		if out := endpointtest.Run(t, "curl", append([]string{"-sS", "--max-time", "20", "-w", " %{http_code}"}, c.args...)...); !strings.Contains(out, c.want) {
			t.Errorf("curl %s\ngave %s\nwithout %s", strings.Join(c.args, " "), out, c.want)
		}
	}
	want := []hub.Intent{
		{Topic: feed + "?a=1&b=ü", Callback: websubCB, Mode: "subscribe", Secret: "geheim", Lease: 10 * time.Minute, Via: "websub"},
		{Topic: feed, Callback: "http://agg.example/", Mode: "unsubscribe", Via: "websub"},
	}
	if d := cmp.Diff(want, h.intents); d != "" || len(h.pings) != 2 {
		t.Errorf("%d pings\n%s", len(h.pings), d)
	}
}
