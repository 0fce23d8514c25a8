package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cloudburst/client"
	"cloudburst/internal/author"
	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
)

// savedScene is a server on which alice saves a private feed as a document. The feed has one
// reader, who subscribes to it.
type savedScene struct {
	*privateScene
	v             *visitor
	feed, topic   string // feed is the path of the feed with the reader's secret; topic is the topic of this reader
	selector      string
	content, ping *privateSubscriber
}

// savedDocument returns a feed with one item. head is added to the channel element.
func savedDocument(word, head string) string {
	return `<?xml version="1.0"?><rss version="2.0"><channel><title>Saved</title><link>http://author.example/</link><description/>` + head +
		`<item><title>Saved ` + hiddenWord + ` ` + word + `</title><guid isPermaLink="false">` + word + `</guid></item></channel></rss>`
}

func newSavedScene(t *testing.T) *savedScene {
	t.Helper()
	s := &savedScene{privateScene: newPrivateScene(t)}
	s.v = s.visitor("")
	made, err := s.accounts.NewSecret(t.Context(), "alice", author.Private, "carol")
	if err != nil {
		t.Fatal(err)
	}
	s.selector, s.feed = made.Selector, "/alice/private/"+made.Selector+"."+strings.TrimPrefix(made.Plain, made.Selector+".")+"/rss.xml"
	s.put(savedDocument("first", ""), http.StatusCreated)
	s.topic = s.v.topicOf(s.feed)
	s.content, s.ping = s.subscribe(s.v, s.topic)
	return s
}

// put saves the private feed with a PUT request.
func (s *savedScene) put(doc string, want int) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "PUT", s.v.base+"/alice/private/rss.xml", strings.NewReader(doc))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth("alice", "correct horse battery")
	r.Header.Set("Content-Type", "text/xml")
	res, err := s.v.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != want {
		body, _ := io.ReadAll(res.Body)
		s.t.Fatalf("PUT: %s\n%s", res.Status, body)
	}
}

// upload saves the private feed with the form on the page /account/feed.
func (s *savedScene) upload(doc string) {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("name", author.Private)
	file, err := form.CreateFormFile("feed", "feed.xml")
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.WriteString(file, doc)
	_ = form.Close()
	alice := s.visitor("alice")
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.v.base+"/account/feed", &body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Origin", s.v.base)
	res, err := alice.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		answer, _ := io.ReadAll(res.Body)
		s.t.Fatalf("the upload: %s\n%s", res.Status, answer)
	}
}

// operator returns the base URL of the operator's listener.
func (s *privateScene) operator() string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.cfg.Data, AdminAddrFile))
	if err != nil {
		s.t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(string(b))
}

// TestSubscriberIsNotifiedOfUploadedPrivateFeed saves a private feed in each way that the program
// offers.
//
// spec:cloudburst#private-topic
func TestSubscriberIsNotifiedOfUploadedPrivateFeed(t *testing.T) {
	t.Parallel()
	s := newSavedScene(t)
	if _, body := s.v.send("GET", s.feed, nil); !strings.Contains(body, "<cloud ") || !strings.Contains(body, `rel="hub" href`) || !strings.Contains(body, s.topic) {
		t.Errorf("the feed names no cloud, hub or topic:\n%s", body)
	}
	notified := func(word string) {
		t.Helper()
		s.content.next(t, "Saved "+hiddenWord+" "+word)
		s.ping.next(t, url.QueryEscape(s.topic))
	}
	s.put(savedDocument("second", ""), http.StatusNoContent)
	notified("second")
	s.upload(savedDocument("third", ""))
	notified("third")
	admin := &client.Client{Base: s.operator()}
	if _, err := admin.SaveFeed(t.Context(), "alice", author.Private, "text/xml", []byte(savedDocument("fourth", ""))); err != nil {
		t.Fatal(err)
	}
	notified("fourth")
	// The server serves a document unchanged if the document has its own hub or cannot contain
	// one. Then only the Link header names the topic.
	own := savedDocument("fifth", `<cloud domain="other.example" port="80" path="/" registerProcedure="" protocol="http-post"/>`)
	s.put(own, http.StatusNoContent)
	notified("fifth")
	if _, body := s.v.send("GET", s.feed, nil); !strings.HasSuffix(body, own) || s.v.topicOf(s.feed) != s.topic {
		t.Errorf("a document with a cloud:\n%s", body)
	}
	old := strings.Replace(savedDocument("sixth", ""), `"2.0"`, `"0.91"`, 1)
	s.put(old, http.StatusNoContent)
	notified("sixth")
	if _, body := s.v.send("GET", s.feed, nil); !strings.HasSuffix(body, old) || s.v.topicOf(s.feed) != s.topic {
		t.Errorf("a document in RSS 0.91:\n%s", body)
	}
	s.put(old, http.StatusNoContent)
	s.put(savedDocument("seventh", ""), http.StatusNoContent) // saving the same document again sends no notification, so the next notification is about this version
	notified("seventh")
	rest(t, s.App)
	if n := len(s.content.got); n > 0 {
		t.Errorf("%d further notifications: %s", n, <-s.content.got)
	}
	s.hides(s.v, s.topic, "after saves", "Saved "+hiddenWord)

	if err := s.accounts.Disable(t.Context(), "alice", true); err != nil {
		t.Fatal(err)
	}
	if status, body := s.v.send("GET", strings.TrimPrefix(s.topic, s.v.base), nil); status != 404 {
		t.Errorf("the topic of a disabled author: %d\n%s", status, body)
	}
	if err := s.accounts.Disable(t.Context(), "alice", false); err != nil {
		t.Fatal(err)
	}
	if err := s.accounts.RevokeSecret(t.Context(), "alice", s.selector); err != nil {
		t.Fatal(err)
	}
	s.put(savedDocument("eighth", ""), http.StatusNoContent)
	rest(t, s.App)
	for len(s.content.got) > 0 {
		if got := <-s.content.got; strings.Contains(got, "eighth") {
			t.Errorf("a reader with a revoked secret got %s", got)
		}
	}
}

// TestUploadedPrivateFeedIsAnnouncedAfterACrash saves a private feed while notifications fail.
// NotifyPending must then notify the subscriber.
func TestUploadedPrivateFeedIsAnnouncedAfterACrash(t *testing.T) {
	t.Parallel()
	s := newSavedScene(t)
	notify := s.authors.Notify
	crashed := &author.Feeds{Store: s.authors.Store, Notify: func(context.Context, author.Feed) error { return errors.New("crash") }}
	f, err := crashed.Save(t.Context(), "alice", author.Private, []byte(savedDocument("late", "")), "test")
	if err != nil || f.Notified == f.Version {
		t.Fatalf("%+v, %v", f, err)
	}
	again := &author.Feeds{Store: s.authors.Store, Notify: notify}
	if err := again.NotifyPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.ping.next(t, url.QueryEscape(s.topic))
}

// TestNoRouteDisclosesUploadedPrivateFeed requests every route while streams are open and a
// private feed is saved. No response may contain the feed or the topic of its reader.
//
// spec:cloudburst#hosted-private
func TestNoRouteDisclosesUploadedPrivateFeed(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	s := newSavedScene(t)
	name := strings.TrimPrefix(s.topic, s.v.base+event.PrivateTopics)
	name, _, _ = strings.Cut(name, "/")
	values := map[string][]string{
		"user": {"alice"}, "name": {"alice"}, "id": {fmt.Sprint(s.post.ID)}, "slug": {"private"}, "group": {"private"}, "secret": {"x.y", s.other}, "document": {"rss.xml", "feed.json", "feed"}, "format": {"json", "atom"},
		"feed": {"private"}, "selector": {s.selector}, "key": {"alice"}, "number": {"1"}, "topic": {name[:12] + "-" + strings.Repeat("a", 32)},
	}
	paths := s.routes(values)
	feed := s.names.Public() + "/alice/private/rss.xml"
	form := url.Values{"user": {"alice"}, "url": {feed}, "feed": {feed}, "q": {hiddenWord}, "hub.topic": {feed}, "hub.mode": {"subscribe"}, "source": {feed}, "target": {feed}, "name": {"private"}, "sure": {"yes"}, "format": {"json"}}

	var streams sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var streamed bytes.Buffer
	eve, opened := s.visitor("eve"), 0
	for _, p := range paths {
		if p[0] != "GET" || !strings.HasSuffix(p[1], "/stream") {
			continue
		}
		r, err := http.NewRequestWithContext(ctx, "GET", s.v.base+p[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+eve.token)
		res, err := eve.Do(r)
		if err != nil {
			t.Fatal(p, err)
		}
		if res.StatusCode == http.StatusOK {
			opened++
		}
		streams.Go(func() {
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body) // the stream ends when ctx ends
			mu.Lock()
			defer mu.Unlock()
			streamed.Write(b)
		})
	}
	s.put(savedDocument("open", ""), http.StatusNoContent)
	s.content.next(t, "open")
	s.ask(paths, form, func(body string) bool {
		return strings.Contains(body, "Saved "+hiddenWord) || strings.Contains(body, name)
	})
	s.hides(s.v, s.topic, "after the attack", "Saved "+hiddenWord)
	for _, path := range []string{"/metrics", "/v1/log?limit=1000", "/v1/topics?limit=1000"} {
		res, err := http.Get(s.operator() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK || bytes.Contains(body, []byte(name)) || bytes.Contains(body, []byte("Saved "+hiddenWord)) {
			t.Errorf("%s of the operator: %s\n%.2000s", path, res.Status, body)
		}
	}
	stop()
	streams.Wait()
	if got := streamed.String(); opened < 4 || strings.Contains(got, hiddenWord) || strings.Contains(got, name) {
		t.Errorf("%d streams sent %s", opened, got)
	}
}

func TestLogContainsNoURLOfAPrivateFeed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := withoutPrivate(slog.New(slog.NewTextHandler(&out, nil)))
	topic := "http://hub.example" + event.PrivateTopics + "abcdefabcdef-2345/rss.xml"
	secret := "http://hub.example/alice/private/family/abcdefabcdef." + strings.Repeat("k", 32) + "/rss.xml"
	log = log.With("base", topic).WithGroup("g")
	log.Warn("read "+topic, "url", topic, "err", fmt.Errorf("get %q: no", secret), slog.Group("in", "a", topic), "count", 3)
	if got := out.String(); strings.Contains(got, "abcdef") || strings.Contains(got, "kkk") || !strings.Contains(got, "g.count=3") || strings.Count(got, "(private feed)") != 5 {
		t.Error(got)
	}
}
