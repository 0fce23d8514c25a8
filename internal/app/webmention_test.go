package app_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/app"
	"cloudburst/internal/config"
)

// mentionServer is a server with an author, who sends and receives webmentions.
type mentionServer struct {
	*running
	*client.Client
	user string
}

// newTalker starts a mentionServer with one user. change may modify the configuration; nil: no
// modification.
func newTalker(t *testing.T, user string, change func(*config.Config)) *mentionServer {
	t.Helper()
	cfg := conf(t, t.TempDir())
	if change != nil {
		change(&cfg)
	}
	r := start(t, cfg)
	c := &client.Client{Base: r.admin}
	w := &mentionServer{r, c, user}
	w.add(user)
	return w
}

func (w *mentionServer) add(user string) {
	w.t.Helper()
	if _, err := w.AddUser(w.t.Context(), user, alicePassword); err != nil {
		w.t.Fatal(err)
	}
}

func (w *mentionServer) of(user string) client.Conversation {
	return client.Conversation{Client: w.Client, User: user}
}

// publish publishes a post. If replyTo is not empty, the post replies to that page.
func (w *mentionServer) publish(user, source, replyTo string) client.Post {
	w.t.Helper()
	state := "published"
	p := client.PostChange{Source: &source, State: &state}
	if replyTo != "" {
		p.Reply = &client.PostReply{URL: replyTo}
	}
	post, err := w.CreatePost(w.t.Context(), user, p, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return post
}

// reply waits until a user has a reply in a state, and returns the reply.
func (w *mentionServer) reply(user, state string) (found client.Reply) {
	w.t.Helper()
	wait(w.t, "a reply is "+state, func() bool {
		for r, err := range w.of(user).Replies(w.t.Context(), client.ReplyQuery{State: state}) {
			if err != nil {
				w.t.Fatal(err)
			}
			found = r
			return true
		}
		return false
	})
	return found
}

// sent waits until the webmention from a post to a target is in a state.
func (w *mentionServer) sent(post int64, target, state string) (found client.SentWebmention) {
	w.t.Helper()
	wait(w.t, "the webmention is "+state, func() bool {
		for s, err := range w.of(w.user).Sent(w.t.Context(), post, 0) {
			if err != nil {
				w.t.Fatal(err)
			}
			if s.Target == target && s.State == state {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// none waits until a user has no replies.
func (w *mentionServer) none(user string) {
	w.t.Helper()
	wait(w.t, "the reply is removed", func() bool {
		for range w.of(user).Replies(w.t.Context(), client.ReplyQuery{}) {
			return false
		}
		return true
	})
}

func TestTwoServersExchangeReplies(t *testing.T) {
	t.Parallel()
	a, b := newTalker(t, "alice", nil), newTalker(t, "bob", nil)
	first := b.publish("bob", "First", "")
	answer := a.publish("alice", "I agree", first.URL)
	r := b.reply("bob", "waiting")
	if r.Kind != "reply" || r.Text != "I agree" || r.Source != answer.URL || r.Author != a.base+"/alice/" {
		t.Errorf("received: %+v", r)
	}
	if s := a.sent(answer.ID, first.URL, "accepted"); s.Status != http.StatusAccepted || !s.Reply || s.Endpoint != b.base+"/webmention" {
		t.Errorf("sent: %+v", s)
	}
	if _, page := get(t, first.URL); strings.Contains(page, "I agree") {
		t.Error("a reply of an unknown author is public")
	}
	d, err := b.of("bob").Decide(t.Context(), r.ID, "trust")
	if err != nil {
		t.Fatal(err)
	}
	if _, page := get(t, first.URL); !strings.Contains(page, "I agree") {
		t.Error("an approved reply is not public")
	}
	if err := b.of("bob").Undo(t.Context(), d.DecidedAt); err != nil {
		t.Fatal(err)
	}
	if rules, err := b.of("bob").Rules(t.Context()); err != nil || len(rules) != 0 || b.reply("bob", "waiting").ID != r.ID {
		t.Errorf("rules after undo: %v, %v", rules, err)
	}
	if _, err := b.of("bob").Decide(t.Context(), r.ID, "trust"); err != nil {
		t.Fatal(err)
	}
	// In the other direction, bob replies to the answer.
	back := b.publish("bob", "Thanks", answer.URL)
	if r := a.reply("alice", "waiting"); r.Source != back.URL || r.Text != "Thanks" {
		t.Errorf("received in return: %+v", r)
	}
	// When alice changes her reply, her server sends the webmention again.
	text := "I do not agree"
	if _, err := a.ChangePost(t.Context(), "alice", answer.ID, 0, client.PostChange{Source: &text}); err != nil {
		t.Fatal(err)
	}
	wait(t, "the text changes", func() bool { return b.reply("bob", "approved").Text == text })
	// When alice deletes her reply, bob's server removes the reply.
	if _, err := a.DeletePost(t.Context(), "alice", answer.ID, 0); err != nil {
		t.Fatal(err)
	}
	b.none("bob")
	if code, _ := get(t, answer.URL); code != http.StatusGone {
		t.Errorf("the deleted post is answered %d", code)
	}
}

func TestPostsThatReplyToEachOtherCauseNoLoop(t *testing.T) {
	t.Parallel()
	a, b := newTalker(t, "alice", nil), newTalker(t, "bob", nil)
	first := a.publish("alice", "First", "")
	answer := b.publish("bob", "Second", first.URL)
	if _, err := a.of("alice").Decide(t.Context(), a.reply("alice", "waiting").ID, "trust"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ChangePost(t.Context(), "alice", first.ID, 0, client.PostChange{Reply: &client.PostReply{URL: answer.URL}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.of("bob").Decide(t.Context(), b.reply("bob", "waiting").ID, "trust"); err != nil {
		t.Fatal(err)
	}
	// The approved replies change the pages of both posts, but not the posts themselves. So no
	// server sends another webmention.
	for _, one := range []struct {
		w      *mentionServer
		post   int64
		target string
	}{{a, first.ID, answer.URL}, {b, answer.ID, first.URL}} {
		if s := one.w.sent(one.post, one.target, "accepted"); s.NextAt != nil || s.Tries != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestReplyToLocalAuthorIsReceivedWithoutHTTPRequest(t *testing.T) {
	t.Parallel()
	w := newTalker(t, "alice", nil)
	w.add("bob")
	first := w.publish("alice", "First", "")
	w.publish("bob", "Hello alice", first.URL)
	r := w.reply("alice", "approved")
	if r.Kind != "reply" || r.Name != "bob" || r.Author != w.base+"/bob/" {
		t.Errorf("received: %+v", r)
	}
	w.publish("alice", "My own [post]("+first.URL+")", "")
	if _, err := w.of("alice").Decide(t.Context(), r.ID, "block-author"); err != nil {
		t.Fatal(err)
	}
	w.reply("alice", "rejected")
	blocked := w.publish("bob", "See [this]("+first.URL+")", "")
	wait(t, "the second reply is rejected", func() bool {
		for r := range w.of("alice").Replies(t.Context(), client.ReplyQuery{State: "rejected"}) {
			if r.Source == blocked.URL {
				return true
			}
		}
		return false
	})
	for r := range w.of("alice").Replies(t.Context(), client.ReplyQuery{}) {
		if r.Name == "alice" {
			t.Errorf("a post mentions a post of its author: %+v", r)
		}
	}
}

func TestAuthorDisablesWebmentions(t *testing.T) {
	t.Parallel()
	a, b := newTalker(t, "alice", nil), newTalker(t, "bob", nil)
	first := b.publish("bob", "First", "")
	off := client.ReplySettings{}
	if got, err := b.of("bob").SetSettings(t.Context(), off); err != nil || got != off {
		t.Fatal(got, err)
	}
	if _, page := get(t, first.URL); strings.Contains(page, `rel="webmention"`) {
		t.Error("the page names an endpoint")
	}
	answer := a.publish("alice", "Hello", first.URL)
	a.sent(answer.ID, first.URL, "no-endpoint")
	if code, body := post(t, b.base+"/webmention", url.Values{"source": {answer.URL}, "target": {first.URL}}); code != http.StatusForbidden {
		t.Errorf("%d %s", code, body)
	}
	if got, err := b.of("bob").Settings(t.Context()); err != nil || got != off {
		t.Error(got, err)
	}
	b.publish("bob", "Hello", answer.URL)
	last := b.publish("bob", "No link", "")
	for s := range b.of("bob").Sent(t.Context(), last.ID, 0) {
		t.Errorf("sent although it is off: %+v", s)
	}
}

func TestOperatorDisablesWebmentions(t *testing.T) {
	t.Parallel()
	w := newTalker(t, "alice", func(c *config.Config) { c.Webmention = config.Webmention{} })
	first := w.publish("alice", "First", "")
	if _, page := get(t, first.URL); strings.Contains(page, `rel="webmention"`) {
		t.Error("the page names an endpoint")
	}
	if code, body := post(t, w.base+"/webmention", url.Values{"source": {"https://you.example/"}, "target": {first.URL}}); code != http.StatusForbidden {
		t.Errorf("%d %s", code, body)
	}
}

// source is a site whose response the test can change. In most tests, its pages mention a post.
type source struct {
	*httptest.Server
	mu   sync.Mutex
	page func(w http.ResponseWriter, r *http.Request)
}

func newSource(t *testing.T, page func(w http.ResponseWriter, r *http.Request)) *source {
	t.Helper()
	s := &source{page: page}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.page(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *source) becomes(page func(w http.ResponseWriter, r *http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = page
}

func htmlPage(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}
}

func (w *mentionServer) mention(from, to string, want int) {
	w.t.Helper()
	if code, body := post(w.t, w.base+"/webmention", url.Values{"source": {from}, "target": {to}}); code != want {
		w.t.Errorf("%s to %s: %d %s", from, to, code, body)
	}
}

// The test runs the checks of webmention.rocks for receivers.
func TestWebmentionReceiverPassesTheChecksOfWebmentionRocks(t *testing.T) {
	t.Parallel()
	w := newTalker(t, "alice", nil)
	first, other := w.publish("alice", "First", "").URL, w.publish("alice", "Second", "").URL
	entry := func(target, text string) string {
		return `<div class="h-entry"><a class="u-in-reply-to" href="` + target + `">x</a><p class="e-content">` + text + `</p></div>`
	}
	s := newSource(t, htmlPage(entry(first, "Hello")))
	t.Run("receive 1: a valid mention is accepted", func(*testing.T) {
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		if r := w.reply("alice", "waiting"); r.Text != "Hello" || r.Kind != "reply" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("receive 2: a source without the link is no mention", func(*testing.T) {
		w.mention(s.URL+"/two", other, http.StatusAccepted)
		wait(t, "the source is read", func() bool {
			n := 0
			for range w.of("alice").Replies(t.Context(), client.ReplyQuery{State: "unread"}) {
				n++
			}
			return n == 0
		})
		if r := w.reply("alice", "waiting"); r.Source != s.URL+"/one" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("invalid requests", func(*testing.T) {
		w.mention(first, first, http.StatusBadRequest)
		w.mention(first+"#comments", first, http.StatusBadRequest)
		w.mention("ftp://you.example/", first, http.StatusBadRequest)
		w.mention(s.URL, w.base+"/nobody/2026/11/28/x", http.StatusBadRequest)
		w.mention(s.URL, s.URL+"/elsewhere", http.StatusBadRequest)
	})
	t.Run("update 1: the new text replaces the old one", func(*testing.T) {
		s.becomes(htmlPage(entry(first, "Changed")))
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		wait(t, "the text changes", func() bool { return w.reply("alice", "waiting").Text == "Changed" })
	})
	t.Run("update 2: a removed link removes the mention", func(*testing.T) {
		s.becomes(htmlPage("no link"))
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		w.none("alice")
	})
	t.Run("delete 1: a source that answers 410 is removed", func(*testing.T) {
		s.becomes(htmlPage(entry(first, "Again")))
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		w.reply("alice", "waiting")
		s.becomes(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		w.none("alice")
	})
	t.Run("delete 2: an approved one is no longer public", func(*testing.T) {
		s.becomes(htmlPage(entry(first, "Approved text")))
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		if _, err := w.of("alice").Decide(t.Context(), w.reply("alice", "waiting").ID, "approve"); err != nil {
			t.Fatal(err)
		}
		if _, page := get(t, first); !strings.Contains(page, "Approved text") {
			t.Error("it is not public")
		}
		s.becomes(htmlPage("no link"))
		w.mention(s.URL+"/one", first, http.StatusAccepted)
		w.none("alice")
		if _, page := get(t, first); strings.Contains(page, "Approved text") {
			t.Error("it is still public")
		}
	})
}

func TestWebmentionSenderPassesTheUpdateChecksOfWebmentionRocks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	received := map[string]int{}
	endpoint := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Link", `</endpoint>; rel=webmention`)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		received[r.PostFormValue("target")]++
		w.WriteHeader(http.StatusAccepted)
	}
	s := newSource(t, endpoint)
	count := func(target string) int { mu.Lock(); defer mu.Unlock(); return received[target] }
	w := newTalker(t, "alice", nil)
	one, two, three := s.URL+"/1", s.URL+"/2", s.URL+"/3"
	p := w.publish("alice", "See [one]("+one+") and [two]("+two+")", "")
	w.sent(p.ID, one, "accepted")
	w.sent(p.ID, two, "accepted")
	text := "See [two](" + two + ") and [three](" + three + ")"
	if _, err := w.ChangePost(t.Context(), "alice", p.ID, 0, client.PostChange{Source: &text}); err != nil {
		t.Fatal(err)
	}
	w.sent(p.ID, three, "accepted")
	wait(t, "the removed link is reported", func() bool { return count(one) == 2 })
	if count(two) != 1 || count(three) != 1 {
		t.Errorf("received: %v", received)
	}
	if _, err := w.DeletePost(t.Context(), "alice", p.ID, 0); err != nil {
		t.Fatal(err)
	}
	wait(t, "the deletion is reported", func() bool { return count(two) == 2 && count(three) == 2 })
	if count(one) != 2 {
		t.Errorf("received: %v", received)
	}
}

func TestWebmentionsToPrivateAddressesAreNotSent(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	s := newSource(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path })
	w := newTalker(t, "alice", func(c *config.Config) { c.Egress.AllowFetch = []netip.Prefix{} })
	p := w.publish("alice", "See [this]("+s.URL+")", "")
	w.sent(p.ID, s.URL, "failed")
	if len(asked) != 0 {
		t.Error("an address inside was requested")
	}
	// A webmention with a source at a private address is accepted, but dropped without a request
	// to the source.
	w.mention(s.URL+"/source", p.URL, http.StatusAccepted)
	w.none("alice")
	if len(asked) != 0 {
		t.Error("a source inside was requested")
	}
}

func TestWebmentionSourceThatRedirectsToAPrivateAddressIsDropped(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this system has one loopback address:", err)
	}
	inside := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }), ReadHeaderTimeout: time.Minute}
	go func() { _ = inside.Serve(l) }() // Serve returns when Close is called
	t.Cleanup(func() { _ = inside.Close() })
	redirected := make(chan bool, 10)
	s := newSource(t, func(w http.ResponseWriter, r *http.Request) {
		redirected <- true
		http.Redirect(w, r, "http://"+l.Addr().String()+"/status", http.StatusFound)
	})
	w := newTalker(t, "alice", func(c *config.Config) { c.Egress.AllowFetch = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	p := w.publish("alice", "A post.", "")
	w.mention(s.URL+"/source", p.URL, http.StatusAccepted)
	<-redirected
	w.none("alice")
	if len(asked) != 0 {
		t.Error("an address inside was requested")
	}
}

func TestWebmentionOfAPostIsSentAfterACrash(t *testing.T) {
	t.Parallel()
	received := make(chan string, 10)
	s := newSource(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			received <- r.PostFormValue("target")
			return
		}
		w.Header().Set("Link", `</endpoint>; rel=webmention`)
	})
	dir := t.TempDir()
	first := spawn(t, dir)
	first.addAlice()
	first.kill()
	// The post is on disk, and no webmention was sent: this is the state after a crash directly
	// after the save.
	a, err := app.Open(t.Context(), conf(t, dir), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	operator := httptest.NewServer(a.Admin())
	w := &mentionServer{&running{t: t}, &client.Client{Base: operator.URL}, "alice"}
	w.publish("alice", "See [this]("+s.URL+"/page)", "")
	operator.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	spawn(t, dir)
	if got := <-received; got != s.URL+"/page" {
		t.Errorf("sent to %s", got)
	}
}
