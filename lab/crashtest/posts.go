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

// postAuthor is the author whose posts change while the program crashes.
const postAuthor = "dee"

const (
	postWriters    = 2 // number of concurrent clients that write posts
	writePause     = 5 * time.Millisecond
	postsEach      = 40               // maximum number of posts of one client, so that older posts also change
	notifiedWithin = 30 * time.Second // maximum time for pending notifications after the last start
)

// line is one post as its client knows it. The client changes the post in sequence.
type line struct {
	key      string
	id       int64 // ID of the post; 0 if unknown
	revision int64
	version  int
	// may contains the possible texts of the post. The text "" means that the post does not
	// exist.
	may []string
	// sure is the time when the last acknowledged change started. If the change was requested again
	// after a lost response, it is the time of the first request.
	sure time.Time
}

func (l *line) text(v int) string { return fmt.Sprintf("%s, version %d.", l.key, v) }

// writing contains the posts of the author, and the notifications of a follower.
type writing struct {
	mu       sync.Mutex
	lines    []*line
	acks     int
	asked    time.Time // time of the follower's last acknowledged registration
	notified time.Time // time of the last notification to the follower
	follow   *httptest.Server
}

// enough reports whether the authors have changed posts more than twice for each crash of a run.
func (w *writing) enough(cycles int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acks > 2*(cycles+1)
}

// newWriting starts the callback server of the author's follower.
func newWriting() (*writing, error) {
	w := &writing{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.follow = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if c := r.URL.Query().Get("challenge"); c != "" {
			_, _ = io.WriteString(rw, c) // an error means that the client has crashed
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

// writeLoop creates and changes posts in sequence until ctx ends.
func (r *runner) writeLoop(ctx context.Context, n int) {
	var mine []*line
	for i := 0; ctx.Err() == nil; time.Sleep(writePause) { // the program is a real process, so this pause is real time
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
			r.create(ctx, c, mine[open]) // repeat this until the post exists
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

// create creates the post l. A repeated call creates no second post, because it uses the same
// key, and subscribers may have been notified of the post since the first call.
func (r *runner) create(ctx context.Context, c *client.Client, l *line) {
	text, state := l.text(0), "published"
	r.posts.mu.Lock()
	if l.sure.IsZero() {
		l.sure = time.Now()
	}
	r.posts.mu.Unlock()
	p, err := c.CreatePost(ctx, postAuthor, client.PostChange{Source: &text, State: &state}, l.key)
	r.posts.mu.Lock()
	defer r.posts.mu.Unlock()
	if err != nil {
		l.may = []string{"", text}
		return
	}
	l.id, l.revision, l.may = p.ID, p.Revision, []string{text}
	r.posts.acks++
}

// change edits, deletes or restores a post. If the previous change had no response, it reads the
// post instead.
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

// seen records the current text of a post. A text that is not possible means a loss.
func (l *line) seen(p client.Post) {
	text := p.Source
	if p.State == "deleted" {
		text = ""
	}
	if slices.Contains(l.may, text) {
		l.may, l.revision = []string{text}, p.Revision
		return
	}
	l.may = append(l.may, "lost") // this text makes the check at the end fail
}

// followAuthor subscribes the follower to the author's feed.
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

// checkPosts compares the posts at the end of the run with the acknowledged changes.
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
	// No counter reports when pending notifications are complete, so wait for a limited time.
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

// last returns the start of the last acknowledged change whose text is in the feed document. It
// ignores changes of posts that are too old for the feed.
func (w *writing) last(doc string) (at time.Time) {
	for _, l := range w.lines {
		shown := len(l.may) == 1 && l.may[0] != "" && strings.Contains(doc, l.may[0])
		if shown && l.sure.After(at) {
			at = l.sure
		}
	}
	return at
}

// follows reports whether the follower was registered before the time at.
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
