package hubhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"

	"github.com/google/go-cmp/cmp"
)

// fakeSender returns the reply of its function and records the messages.
type fakeSender struct {
	answer func(*fetch.Message) fetch.Reply

	mu   sync.Mutex
	sent []fetch.Message
}

func (s *fakeSender) Send(_ context.Context, m *fetch.Message) fetch.Reply {
	s.mu.Lock()
	s.sent = append(s.sent, *m)
	s.mu.Unlock()
	return s.answer(m)
}

func answering(r fetch.Reply) *fakeSender {
	return &fakeSender{answer: func(*fetch.Message) fetch.Reply { return r }}
}

func subscription(protocol string) hub.Subscription {
	return hub.Subscription{Protocol: protocol, Callback: "http://agg.example:5337/secret/cb?x=1", Procedure: "river.updated"}
}

func topic(url string) hub.Topic { return hub.Topic{ID: hub.TopicID(url), URL: url} }

func TestNotificationHasTheFormatOfItsProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http-post", "https-post", "xml-rpc", "soap"} {
		s := answering(fetch.Reply{Status: 204, Took: 7})
		r := (&Notifier{Sender: s}).Notify(t.Context(), new(subscription(protocol)), new(topic(feed)), nil, 1)
		if d := cmp.Diff(hub.Reply{OK: true, Took: 7}, r); d != "" {
			t.Errorf("%s\n%s", protocol, d)
		}
		want, err := rsscloud.EncodeNotification(protocol, "river.updated", feed)
		if err != nil {
			t.Fatal(err)
		}
		header := []string{"X-Hub-Hops", "2"}
		if protocol == "soap" {
			header = append(header, "SOAPAction", want.SOAPAction)
		}
		wantSent := []fetch.Message{{URL: "http://agg.example:5337/secret/cb?x=1", ContentType: want.ContentType, Header: header, Body: want.Body}}
		if d := cmp.Diff(wantSent, s.sent); d != "" {
			t.Errorf("%s\n%s", protocol, d)
		}
	}
}

func TestNotificationContainsTheTimeOfTheChange(t *testing.T) {
	t.Parallel()
	s := answering(fetch.Reply{Status: 200})
	n := &Notifier{Sender: s}
	changed := time.Date(2009, 10, 16, 14, 0, 0, 1500, time.FixedZone("", 7200))
	for range 2 { // the second change of a feed must not contain the time of the first
		to := topic(feed)
		to.ChangedAt = changed
		n.Notify(t.Context(), new(subscription("http-post")), &to, nil, 0)
		changed = changed.Add(time.Minute)
	}
	for i, want := range []string{"2009-10-16T12:00:00.0000015Z", "2009-10-16T12:01:00.0000015Z"} {
		if d := cmp.Diff([]string{"X-Hub-Hops", "1", "X-Hub-Changed-At", want}, s.sent[i].Header); d != "" {
			t.Error(d)
		}
	}
}

func TestResponseToNotificationDecidesRetryOrSuccess(t *testing.T) {
	t.Parallel()
	now := time.Date(2009, 10, 16, 12, 0, 0, 0, time.UTC)
	broken := &fetch.Error{Kind: fetch.Unreachable, Text: fetch.Neutral, Err: errors.New("connection refused by 10.0.0.7")}
	for _, c := range []struct {
		name  string
		reply fetch.Reply
		want  hub.Reply // expected reply, without Exchange
	}{
		{"200", fetch.Reply{Status: 200}, hub.Reply{OK: true}},
		{"299", fetch.Reply{Status: 299}, hub.Reply{OK: true}},
		{"410", fetch.Reply{Status: 410}, hub.Reply{Gone: true, Text: "The callback answered 410 Gone: it wants no more notifications."}},
		{"500", fetch.Reply{Status: 500, Took: 3}, hub.Reply{Took: 3, Text: "The callback answered 500 Internal Server Error."}},
		{"304", fetch.Reply{Status: 304}, hub.Reply{Text: "The callback answered 304 Not Modified."}},
		{"odd", fetch.Reply{Status: 799}, hub.Reply{Text: "The callback answered 799."}},
		{"wait", fetch.Reply{Status: 503, RetryAfter: "120"}, hub.Reply{RetryAfter: 2 * time.Minute, Text: "The callback answered 503 Service Unavailable."}},
		{"wait until", fetch.Reply{Status: 429, RetryAfter: "Fri, 16 Oct 2009 12:01:00 GMT"}, hub.Reply{RetryAfter: time.Minute, Text: "The callback answered 429 Too Many Requests."}},
		{"refused connection", fetch.Reply{Err: broken}, hub.Reply{Text: unanswered}},
		{"time-out", fetch.Reply{Err: broken, Timeout: true}, hub.Reply{Timeout: true, Text: unanswered}},
		{"ours", fetch.Reply{Err: broken, NotTried: true}, hub.Reply{NotTried: true, Text: "The notification could not be sent now because of a problem on this server."}},
	} {
		n := &Notifier{Sender: answering(c.reply), Now: func() time.Time { return now }}
		got := n.Notify(t.Context(), new(subscription("http-post")), new(topic(feed)), nil, 0)
		x := got.Exchange
		got.Exchange.Callback, got.Exchange.Request, got.Exchange.Answer, got.Exchange.Error = "", "", "", ""
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s\n%s", c.name, d)
		}
		if strings.Contains(got.Text, "10.0.0.7") || strings.Contains(got.Text, "secret") {
			t.Errorf("%s: the public message is %q", c.name, got.Text)
		}
		switch {
		case c.want.OK:
			if x.Callback+x.Request+x.Answer+x.Error != "" {
				t.Errorf("%s: a success kept its exchange: %+v", c.name, x)
			}
		case !strings.Contains(x.Request, "/secret/cb?x=1") || !strings.Contains(x.Request, "url=http") || (x.Error == "") != (c.reply.Err == nil) || (x.Answer == "") != (c.reply.Err != nil):
			t.Errorf("%s: %+v", c.name, x)
		}
	}
}

func TestSuccessfulNotificationAllocatesMemoryOnlyForItsMessage(t *testing.T) {
	n := &Notifier{Sender: quietSender{}}
	sub, top := subscription("xml-rpc"), topic(feed)
	ctx := context.Background()
	if got := testing.AllocsPerRun(1000, func() { n.Notify(ctx, &sub, &top, nil, 0) }); got > 1 {
		t.Errorf("%.1f allocations", got)
	}
}

type quietSender struct{}

func (quietSender) Send(context.Context, *fetch.Message) fetch.Reply {
	return fetch.Reply{Status: http.StatusOK}
}

// TestHashCollisionDoesNotMixUpCachedNotifications sends notifications for many more topics than
// the cache has slots, concurrently. The names Aa and BB have the same hash.
func TestHashCollisionDoesNotMixUpCachedNotifications(t *testing.T) {
	t.Parallel()
	n := &Notifier{}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				url := "http://feeds.example/" + strings.Repeat("a", i%50) + string(rune('a'+w))
				for _, procedure := range []string{"x.Aa", "x.BB"} {
					e, err := n.encode("xml-rpc", procedure, new(topic(url)), i%3)
					if err != nil || !strings.Contains(string(e.body), url+"<") || !strings.Contains(string(e.body), procedure) || e.header[1] != string(rune('1'+i%3)) {
						t.Errorf("%s %s: %+v, %v", procedure, url, e, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestNotificationByUnknownProtocolFails(t *testing.T) {
	t.Parallel()
	sub := subscription("gopher")
	r := (&Notifier{Sender: answering(fetch.Reply{Status: 200})}).Notify(t.Context(), &sub, new(topic(feed)), nil, 0)
	if r.OK || r.Text == "" || r.NotTried {
		t.Errorf("%+v", r)
	}
}

func BenchmarkSendNotification(b *testing.B) {
	n := &Notifier{Sender: quietSender{}}
	sub, top := subscription("http-post"), topic(feed)
	b.ReportAllocs()
	for b.Loop() {
		n.Notify(context.Background(), &sub, &top, nil, 0)
	}
}
