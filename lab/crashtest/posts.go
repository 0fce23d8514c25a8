package crashtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

// postAuthor is the author of posts that are changed and deleted while the program crashes.
const postAuthor = "dee"

const (
	postWriters    = 2 // posts that are written at the same time
	writePause     = 5 * time.Millisecond
	postsEach      = 40               // by one writer, so that older posts change too
	notifiedWithin = 30 * time.Second // after the last start
)

// line is one post in the view of its author. Its changes are sequential.
type line struct {
	key      string
	id       int64 // 0: unknown
	revision int64
	version  int
	// may contains the possible texts of the post; "" means no post.
	may []string
	// sure is the start of the last acknowledged change.
	sure time.Time
}

func (l *line) text(v int) string { return fmt.Sprintf("%s, version %d.", l.key, v) }

// writing contains the posts of the author and their notifications.
type writing struct {
	mu       sync.Mutex
	lines    []*line
	acks     int
	asked    time.Time // last acknowledged registration of the follower
	notified time.Time // last notification of the follower
	follow   *httptest.Server
}

// newWriting starts the server of the author's follower.
func newWriting() (*writing, error) {
	w := &writing{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.follow = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("challenge"); c != "" {
			_, _ = io.WriteString(rw, c) // the client may have crashed
			return
		}
		if r.Method == http.MethodPost {
			w.mu.Lock()
			w.notified = time.Now()
			w.mu.Unlock()
		}
	}))
	w.follow.Listener = l
	w.follow.Start()
	return w, nil
}

// writeLoop writes posts until ctx ends: in sequence, and sometimes an older one again.
func (r *runner) writeLoop(ctx context.Context, n int) {
	var mine []*line
	for i := 0; ctx.Err() == nil; time.Sleep(writePause) { // the process runs in real time
		r.mu.Lock()
		admin := r.admin
		alive := r.base != ""
		r.mu.Unlock()
		if !alive {
			continue
		}
		c := &client.Client{Base: admin, HTTP: r.client}
		if n == 0 && i%20 == 0 {
			r.followAuthor()
		}
		i++
		switch open := slices.IndexFunc(mine, func(l *line) bool { return l.id == 0 }); {
		case open >= 0:
			r.create(ctx, c, mine[open]) // until the post exists
		case len(mine) < postsEach && r.rng.IntN(3) == 0:
			l := &line{key: fmt.Sprintf("post %d of writer %d", len(mine), n), may: []string{""}}
			mine = append(mine, l)
			r.posts.mu.Lock()
			r.posts.lines = append(r.posts.lines, l)
			r.posts.mu.Unlock()
			r.create(ctx, c, l)
		case len(mine) > 0:
			r.change(ctx, c, mine[r.rng.IntN(len(mine))])
		}
	}
}

// create creates a post; a repeated call creates no other post.
func (r *runner) create(ctx context.Context, c *client.Client, l *line) {
	from, text, state := time.Now(), l.text(0), "published"
	p, err := c.CreatePost(ctx, postAuthor, client.PostChange{Source: &text, State: &state}, l.key)
	r.posts.mu.Lock()
	defer r.posts.mu.Unlock()
	if err != nil {
		l.may = []string{"", text}
		return
	}
	l.id, l.revision, l.may, l.sure = p.ID, p.Revision, []string{text}, from
	r.posts.acks++
}

// change edits, deletes or restores a post. Without an answer, the result is read from the next
// process.
func (r *runner) change(ctx context.Context, c *client.Client, l *line) {
	if l.revision == 0 {
		p, err := c.Post(ctx, postAuthor, l.id)
		if err != nil {
			return
		}
		r.posts.mu.Lock()
		l.seen(p)
		r.posts.mu.Unlock()
		return
	}
	from := time.Now()
	l.version++
	text, state := l.text(l.version), "published"
	var p client.Post
	var err error
	if r.rng.IntN(8) == 0 {
		text = ""
		p, err = c.DeletePost(ctx, postAuthor, l.id, l.revision)
	} else {
		p, err = c.ChangePost(ctx, postAuthor, l.id, l.revision, client.PostChange{Source: &text, State: &state})
	}
	r.posts.mu.Lock()
	defer r.posts.mu.Unlock()
	if err != nil {
		l.may, l.revision = append(l.may, text), 0
		return
	}
	l.may, l.revision, l.sure = []string{text}, p.Revision, from
	r.posts.acks++
}

// seen records the text of a post; an impossible text means a loss.
func (l *line) seen(p client.Post) {
	text := p.Source
	if p.State == "deleted" {
		text = ""
	}
	if slices.Contains(l.may, text) {
		l.may, l.revision = []string{text}, p.Revision
		return
	}
	l.may = append(l.may, "lost") // reported at the end
}

// followAuthor subscribes to the author's feed.
func (r *runner) followAuthor() {
	base := r.where()
	if base == "" {
		return
	}
	from := time.Now()
	p := pair{owner{name: postAuthor}.topic(asSaved), r.posts.follow.URL + "/author"}
	c := r.post(base+"/rsscloud/pleaseNotify", outside.Registration(p.callback, p.feed), http.StatusOK, outside.Success)
	r.history.do(func() { r.history.registers[p] = append(r.history.registers[p], c) })
	r.posts.mu.Lock()
	defer r.posts.mu.Unlock()
	if c.ok && r.posts.asked.IsZero() {
		r.posts.asked = from
	}
}

// checkPosts compares the posts at the end with the acknowledged changes.
func (r *runner) checkPosts(ctx context.Context) (broken []string, err error) {
	w := r.posts
	c := &client.Client{Base: r.admin, HTTP: r.client}
	there := map[string][]client.Post{}
	var newest []string
	for _, state := range []string{"published", "deleted"} {
		for p, err := range c.Posts(ctx, postAuthor, client.PostQuery{State: state}) {
			if err != nil {
				return nil, fmt.Errorf("list the author's posts: %w", err)
			}
			there[p.Key] = append(there[p.Key], p)
			if state == "published" && len(newest) < 10 {
				newest = append(newest, p.Source)
			}
		}
	}
	doc, err := r.authorFeed(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range newest {
		if !strings.Contains(doc, text) {
			broken = append(broken, fmt.Sprintf("post lost: %q is not in the feed", text))
		}
	}
	// Pending notifications are sent soon after a start; no counter reports their end.
	for end := time.Now().Add(min(r.Settle, notifiedWithin)); ctx.Err() == nil && w.unnotified(doc) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		broken = append(broken, l.check(there[l.key])...)
	}
	if last := w.last(doc); w.follows(last) && w.notified.Before(last) {
		broken = append(broken, fmt.Sprintf("post not notified: the last notification of the follower was at %s, the last change of a post at %s", w.notified.Format(clock), last.Format(clock)))
	}
	return broken, nil
}

// last returns the time at which the last acknowledged change that is visible in the feed began. A
// change of a post that is too old for the feed does not count.
func (w *writing) last(doc string) (at time.Time) {
	for _, l := range w.lines {
		shown := len(l.may) == 1 && l.may[0] != "" && strings.Contains(doc, l.may[0])
		if shown && l.sure.After(at) {
			at = l.sure
		}
	}
	return at
}

// follows reports whether the follower was registered at a change.
func (w *writing) follows(at time.Time) bool { return !w.asked.IsZero() && at.After(w.asked) }

func (w *writing) unnotified(doc string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.last(doc)
	return w.follows(last) && w.notified.Before(last)
}

func (l *line) check(found []client.Post) []string {
	if len(found) > 1 {
		return []string{fmt.Sprintf("post duplicated: %s exists %d times", l.key, len(found))}
	}
	text := ""
	if len(found) == 1 && found[0].State == "published" {
		text = found[0].Source
	}
	if !slices.Contains(l.may, text) || slices.Contains(l.may, "lost") {
		return []string{fmt.Sprintf("post lost: %s is %q, want one of %q", l.key, text, l.may)}
	}
	return nil
}

func (r *runner) authorFeed(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.where()+"/"+postAuthor+"/"+asSaved, nil)
	if err != nil {
		return "", err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}
