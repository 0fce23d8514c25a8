package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// privateSubscriber is a server whose callback confirms WebSub subscriptions and records
// notifications.
type privateSubscriber struct {
	*httptest.Server
	got chan string // bodies of WebSub notifications, and forms of rssCloud notifications
}

func newPrivateSubscriber(t *testing.T) *privateSubscriber {
	s := &privateSubscriber{got: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("hub.challenge"); c != "" {
			_, _ = io.WriteString(w, c)
			return
		}
		b, _ := io.ReadAll(r.Body)
		s.got <- r.Method + " " + string(b)
	}))
	t.Cleanup(s.Close)
	return s
}

// next waits for a notification that contains a text.
func (s *privateSubscriber) next(t *testing.T, want string) {
	t.Helper()
	for {
		select {
		case got := <-s.got:
			if strings.Contains(got, want) {
				return
			}
		case <-time.After(time.Minute):
			t.Fatalf("no notification with %q", want)
		}
	}
}

var selfLink = regexp.MustCompile(`<([^>]*)>; rel="self"`)

// TestSubscriberIsNotifiedOfPrivatePosts subscribes to the topic of a reader by WebSub and
// rssCloud. No data that other users can read may contain the topic.
//
// spec:cloudburst#private-topic
func TestSubscriberIsNotifiedOfPrivatePosts(t *testing.T) {
	t.Parallel()
	s := newPrivateScene(t)
	v := s.visitor("")
	feed := "/alice/private/family/" + s.secret + "/rss.xml"
	topic := v.topicOf(feed)
	if _, body := v.send("GET", feed, nil); !strings.Contains(body, "<cloud ") || !strings.Contains(body, `rel="hub" href`) {
		t.Errorf("the feed names no cloud or hub:\n%s", body)
	}
	for _, form := range []string{"feed.xml", "rss.xml?format=rss20", "feed.atom", "feed.json", "feed.rdf"} {
		path := strings.TrimSuffix(feed, "rss.xml") + form
		self := strings.TrimPrefix(v.topicOf(path), v.base)
		if status, body := v.send("GET", self, nil); status != 200 || !strings.Contains(body, "Text "+hiddenWord) {
			t.Errorf("the topic %s of %s: %d", self, path, status)
		}
	}
	for form, code := range map[string]fault.Code{"rss.xml": 0, "feed.atom": 0, "feed.csv": fault.NotFound, "feed.html": fault.NotFound, "feed.txt": fault.NotFound} {
		at := strings.TrimPrefix(topic, v.base)
		if _, _, _, _, ok, err := s.feeds.OwnDocument(t.Context(), strings.TrimSuffix(at, "rss.xml")+form, ""); !ok || fault.CodeOf(err) != code {
			t.Errorf("the hub reads %s: %v, %v", form, ok, err)
		}
	}
	if u, err := url.Parse(topic); err != nil || strings.Contains(u.Path, "alice") || strings.Contains(u.Path, "family") {
		t.Errorf("the topic %s names the feed", topic)
	}
	if path := strings.TrimPrefix(topic, v.base); !strings.HasPrefix(path, event.PrivateTopics) {
		t.Errorf("the topic is %s", topic)
	} else if status, body := v.send("GET", path, nil); status != 200 || !strings.Contains(body, "Text "+hiddenWord) || v.topicOf(path) != topic {
		t.Errorf("the topic: %d\n%s", status, body)
	} else if status, body := v.send("GET", path[:40]+"zzzz"+path[44:], nil); status != 404 || strings.Contains(body, hiddenWord) {
		t.Errorf("a guessed topic: %d", status)
	}
	content, ping := s.subscribe(v, topic)
	post := func(word string, groups ...string) {
		t.Helper()
		_, err := s.posts.Save(t.Context(), author.Edit{User: "alice", To: author.Published, Via: "test", Change: func(c *author.Content) error {
			c.Source, c.Groups = word, groups
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	post("For work only", "work")
	post("News for the family", "family")
	content.next(t, "News for the family")
	ping.next(t, url.QueryEscape(topic))
	hidden := func(when string) { t.Helper(); s.hides(v, topic, when, "for the family") }
	hidden("after a notification")
	// Neither a ping of the author page nor a ping of the topic itself may reveal the topic.
	for _, to := range []string{v.base + "/alice/", topic} {
		_, body := v.send("POST", "/ping", url.Values{"url": {to}})
		if to != topic && strings.Contains(body, event.PrivateTopics) {
			t.Errorf("a ping of %s shows the topic:\n%s", to, body)
		}
	}
	hidden("after pings")
	for _, to := range []string{topic, strings.Replace(topic, "private", "%70rivate", 1)} {
		if status, _ := v.send("GET", "/convert?"+url.Values{"url": {to}, "to": {"atom"}}.Encode(), nil); status != 404 {
			t.Errorf("%s is converted for everybody: %d", to, status)
		}
	}
	if status, _ := v.send("OPTIONS", strings.TrimPrefix(topic, v.base), nil); status != 204 {
		t.Errorf("OPTIONS of the topic: %d", status)
	}

	if err := s.accounts.RevokeSecret(t.Context(), "alice", strings.SplitN(s.secret, ".", 2)[0]); err != nil {
		t.Fatal(err)
	}
	if n, err := s.store.Subscribers(t.Context(), hub.TopicID(topic), time.Now()); err != nil || len(n) > 0 {
		t.Errorf("subscriptions after the secret was revoked: %v, %v", n, err)
	}
	if status, _ := v.send("GET", strings.TrimPrefix(topic, v.base), nil); status != 404 {
		t.Errorf("the topic of a revoked secret: %d", status)
	}
	if status, body := v.send("POST", "/pleaseNotify", ping.form(t, topic)); status == 200 && !strings.Contains(body, `success="false"`) {
		t.Errorf("rssCloud accepts the topic of a revoked secret:\n%s", body)
	}
	post("Not for revoked readers", "family")
	again, err := s.accounts.NewSecret(t.Context(), "alice", author.GroupFeed("family"), "bob")
	if err != nil {
		t.Fatal(err)
	}
	if next := s.feeds.Topics.Topic(account.Secret{Selector: again.Selector, User: "alice", Feed: again.Feed}); strings.Contains(topic, next) {
		t.Error("a new secret has the topic of the revoked one")
	}
	hidden("after the revocation")
	for len(content.got) > 0 {
		if got := <-content.got; strings.Contains(got, "revoked readers") || strings.Contains(got, "For work only") {
			t.Errorf("the subscriber got %s", got)
		}
	}
}

// hides checks that no list and no log contains a topic or one of the words.
func (s *privateScene) hides(v *visitor, topic, when string, words ...string) {
	t := s.t
	t.Helper()
	for _, path := range []string{"/hub", "/log", "/log?q=private", "/v1/log", "/topics", "/topics?q=private", "/topics?order=subscribers", "/topics?order=changed", "/changes", "/changes.xml", "/shortChanges.xml", "/status", "/", "/people", "/alice/"} {
		_, body := v.send("GET", path, nil)
		for _, word := range append([]string{event.PrivateTopics, url.QueryEscape(event.PrivateTopics)}, words...) {
			if strings.Contains(body, word) {
				t.Errorf("%s, %s shows %q:\n%.1500s", when, path, word, body)
			}
		}
	}
	if list, err := s.store.Events(t.Context(), hub.EventQuery{TopicID: hub.TopicID(topic), Limit: 1000}); err != nil || len(list) > 0 {
		t.Errorf("%s, the log has %+v, %v", when, list, err)
	}
	if list, err := s.store.Topics(t.Context(), hub.TopicQuery{Limit: 1000, Now: time.Now()}); err != nil {
		t.Error(err)
	} else {
		for _, one := range list {
			if event.IsPrivate(one.URL) {
				t.Errorf("%s, the list of topics has %s", when, one.URL)
			}
		}
	}
}

// topicOf returns the topic that a private feed contains for its reader.
func (v *visitor) topicOf(path string) string {
	v.t.Helper()
	status, body := v.send("GET", path, nil)
	m := selfLink.FindStringSubmatch(body)
	if status != 200 || m == nil || !strings.Contains(body, `/websub>; rel="hub"`) {
		v.t.Fatalf("%s: %d\n%s", path, status, body)
	}
	return m[1]
}

// subscribe subscribes two servers to a topic, one by WebSub and one by rssCloud.
func (s *privateScene) subscribe(v *visitor, topic string) (content, ping *privateSubscriber) {
	t := s.t
	t.Helper()
	content, ping = newPrivateSubscriber(t), newPrivateSubscriber(t)
	if status, body := v.send("POST", "/websub", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {content.URL}}); status != http.StatusAccepted {
		t.Fatalf("WebSub: %d\n%s", status, body)
	}
	if status, body := v.send("POST", "/pleaseNotify", ping.form(t, topic)); status != 200 || strings.Contains(body, `success="false"`) {
		t.Fatalf("rssCloud: %d\n%s", status, body)
	}
	waitForSubscribers(t, s.App, topic, 2)
	return content, ping
}

// form returns the form of an rssCloud request for notifications about a topic.
func (s *privateSubscriber) form(t *testing.T, topic string) url.Values {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return url.Values{"notifyProcedure": {""}, "port": {at.Port()}, "path": {"/"}, "protocol": {"http-post"}, "url1": {topic}}
}

// waitForSubscribers waits until a topic has n subscriptions.
func waitForSubscribers(t *testing.T, a *App, topic string, n int64) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		counts, err := a.store.Subscribers(t.Context(), hub.TopicID(topic), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, c := range counts {
			sum += c
		}
		if sum >= n {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the topic has %d of %d subscriptions", sum, n)
		}
	}
}
