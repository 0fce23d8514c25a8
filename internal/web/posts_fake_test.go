package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// fakePostStore stores posts in memory. The real author.Posts writes to this store, so the rules for posts
// are those of the program.
type fakePostStore struct {
	author.PostStore // nil; provides the methods that no test calls
	author.Store     // nil; provides the methods for feeds that no test calls

	mu      sync.Mutex
	posts   map[string]author.Post // key: USER/ID, see postKey
	undo    map[string]author.Post
	writers map[string]author.Writer
	fail    error // if set, reads and writes return this error
	writes  int
}

func newFakePostStore() *fakePostStore {
	return &fakePostStore{posts: map[string]author.Post{}, undo: map[string]author.Post{}, writers: map[string]author.Writer{}}
}

// newPosts returns an author.Posts with a fakePostStore, and this store.
func newPosts(f *fake) (*author.Posts, *fakePostStore) {
	sh := newFakePostStore()
	now := func() time.Time { return f.now }
	feeds := &author.Feeds{Store: sh, Now: now}
	return &author.Posts{Store: sh, Feeds: feeds, Now: now, Origin: func() string { return "https://hub.example" }}, sh
}

func postKey(user string, id int64) string { return fmt.Sprint(user, "/", id) }

func errNoPost() error { return fault.New(fault.NotFound, "There is no such post.") }

func (s *fakePostStore) SavedDocument(context.Context, string, string) (author.Feed, []byte, error) {
	return author.Feed{}, nil, fault.New(fault.NotFound, "Nothing was saved.")
}

func (s *fakePostStore) WritePost(_ context.Context, w author.Writing) (author.Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return author.Written{}, s.fail
	}
	writer := s.writers[w.User]
	writer.User = w.User
	now, found := s.begin(w)
	if w.ID != 0 && now.Revision == 0 {
		return author.Written{}, errNoPost()
	}
	var was *author.Post
	if u, ok := s.undo[postKey(w.User, now.ID)]; ok {
		was = &u
	}
	next, undo, err := w.Change(now, found, was, writer, func(slug string) (string, error) { return s.free(w.User, slug), nil })
	if err != nil || next == nil {
		return author.Written{Post: now, Found: found, Writer: writer}, err
	}
	s.writes++
	next.Revision = now.Revision + 1
	s.posts[postKey(w.User, next.ID)] = *next
	delete(s.undo, postKey(w.User, next.ID))
	if undo != nil {
		s.undo[postKey(w.User, next.ID)] = *undo
	}
	if now.State == author.Published || next.State == author.Published {
		writer.Version++
		writer.LastSeq = max(writer.LastSeq, next.Seq)
		writer.Written = true
	}
	s.writers[w.User] = writer
	return author.Written{Post: *next, Writer: writer}, nil
}

// begin returns the post that a write changes or creates. The second result is true if the write repeats
// the creation of a post: a post with the same key or GUID exists.
func (s *fakePostStore) begin(w author.Writing) (author.Post, bool) {
	if w.ID != 0 {
		return s.posts[postKey(w.User, w.ID)], false
	}
	id := int64(1)
	for _, p := range s.posts {
		if p.User != w.User {
			continue
		}
		if p.State != author.Deleted && (w.Key != "" && p.Key == w.Key || w.GUID != "" && p.GUID == w.GUID) {
			return p, true
		}
		id = max(id, p.ID+1)
	}
	return author.Post{User: w.User, ID: id, State: author.Draft}, false
}

func (s *fakePostStore) free(user, slug string) string {
	taken := func(name string) bool {
		for _, p := range s.posts {
			if p.User == user && p.Slug == name {
				return true
			}
		}
		return false
	}
	name := slug
	for n := 2; taken(name); n++ {
		name = fmt.Sprint(slug, "-", n)
	}
	return name
}

func (s *fakePostStore) one(match func(author.Post) bool) (author.Post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return author.Post{}, s.fail
	}
	for _, p := range s.posts {
		if match(p) {
			return p, nil
		}
	}
	return author.Post{}, errNoPost()
}

func (s *fakePostStore) Post(_ context.Context, user string, id int64) (author.Post, error) {
	return s.one(func(p author.Post) bool { return p.User == user && p.ID == id })
}

func (s *fakePostStore) PostBySlug(_ context.Context, user, slug string) (author.Post, error) {
	return s.one(func(p author.Post) bool { return p.User == user && p.Slug == slug })
}

func (s *fakePostStore) PostByKey(_ context.Context, user, key, guid string) (author.Post, error) {
	named := func(p author.Post) bool {
		return p.User == user && (guid != "" && p.GUID == guid || guid == "" && p.Key == key)
	}
	post, err := s.one(func(p author.Post) bool { return named(p) && p.State != author.Deleted })
	if fault.CodeOf(err) == fault.NotFound {
		return s.one(named)
	}
	return post, err
}

func (s *fakePostStore) KnownGUIDs(ctx context.Context, user string, guids []string) (map[string]bool, error) {
	known := map[string]bool{}
	for _, guid := range guids {
		if _, err := s.PostByKey(ctx, user, "", guid); err == nil {
			known[guid] = true
		}
	}
	return known, nil
}

func (s *fakePostStore) Posts(_ context.Context, q author.PostQuery) ([]author.Post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	at := func(p author.Post) time.Time {
		if p.State == author.Published {
			return p.PublishedAt
		}
		return p.UpdatedAt
	}
	before := func(a, b author.Post) int { return cmp.Or(at(b).Compare(at(a)), cmp.Compare(b.ID, a.ID)) }
	var all []author.Post
	for _, p := range s.posts {
		text := strings.ToLower(p.Title + " " + p.Source)
		switch {
		case q.User != "" && p.User != q.User, q.State == "" && p.State == author.Deleted, q.State != "" && p.State != q.State,
			q.Match != "" && !strings.Contains(text, strings.ToLower(q.Match)),
			q.Category != "" && !slices.ContainsFunc(p.Categories, func(l string) bool { return author.CategoryName(l) == q.Category }),
			!q.Since.IsZero() && p.PublishedAt.Before(q.Since), !q.Before.IsZero() && !p.PublishedAt.Before(q.Before),
			q.After != nil && before(*q.After, p) >= 0, q.FromSeq > 0 && p.Seq < q.FromSeq, q.ToSeq > 0 && p.Seq > q.ToSeq:
			continue
		}
		all = append(all, p)
	}
	slices.SortFunc(all, before)
	if q.FromSeq > 0 || q.ToSeq > 0 {
		slices.SortFunc(all, func(a, b author.Post) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	all = all[min(len(all), q.Skip):]
	return all[:min(len(all), q.Limit)], nil
}

func (s *fakePostStore) PostCounts(_ context.Context, user string, what author.CountOf, prefix string, limit int) ([]author.Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]author.Count{}
	for _, p := range s.posts {
		if p.User != user || p.State != author.Published {
			continue
		}
		labels := p.Categories
		if what == author.ByMonth {
			labels = []string{p.PublishedAt.Format("2006-01")}
		}
		for _, l := range labels {
			name := author.CategoryName(l)
			if strings.HasPrefix(name, prefix) {
				counts[name] = author.Count{Name: name, Label: l, Posts: counts[name].Posts + 1}
			}
		}
	}
	var all []author.Count
	for _, c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b author.Count) int {
		if what == author.ByMonth {
			a, b = b, a
		}
		return strings.Compare(a.Name, b.Name)
	})
	if limit == 0 {
		limit = 1000
	}
	return all[:min(len(all), limit)], nil
}

func (s *fakePostStore) PostsChanged(_ context.Context, user, category string) (stamp int64, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.posts {
		has := category == "" || slices.ContainsFunc(p.Categories, func(l string) bool { return author.CategoryName(l) == category })
		if (user == "" || p.User == user) && p.State == author.Published && has {
			stamp = max(stamp, p.UpdatedAt.UnixMicro())
		}
	}
	return stamp, nil
}

func (s *fakePostStore) Writer(_ context.Context, user string) (author.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writers[user]
	w.User, w.Posts = user, 0
	for _, p := range s.posts {
		if p.User == user && p.State == author.Published {
			w.Posts++
		}
	}
	return w, s.fail
}

func (s *fakePostStore) SetProfile(_ context.Context, user string, change func(*author.Profile) error) (author.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.writers[user]
	p := w.Profile
	if err := change(&p); err != nil {
		return w, err
	}
	w.User, w.Profile, w.Version = user, p, w.Version+1
	// author.Posts rebuilds the feed of a user only if Written is true. No test needs this feed.
	w.Written = false
	s.writers[user] = w
	return w, nil
}

// fakeFiles stores files in memory.
type fakeFiles struct {
	mu       sync.Mutex
	files    map[string][]byte // key: path
	maxFiles int               // maximum size of a file in bytes; 0: no limit
}

func newFakeFiles() *fakeFiles { return &fakeFiles{files: map[string][]byte{}} }

func (d *fakeFiles) Put(_ context.Context, user, name, contentType string, r io.Reader) (author.File, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return author.File{}, err
	}
	if strings.HasSuffix(name, ".png") && !bytes.HasPrefix(b, []byte("\x89PNG")) {
		return author.File{}, fault.New(fault.Invalid, "%s is called an image, but it is not one.", name)
	}
	if d.maxFiles > 0 && len(b) > d.maxFiles {
		return author.File{}, fault.New(fault.TooMany, "There is no more room: %s has %d bytes.", name, len(b))
	}
	sum := sha256.Sum256(b)
	f := author.File{User: user, Hash: hex.EncodeToString(sum[:]), Name: name, Type: contentType, Size: int64(len(b))}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[d.Path(f)] = b
	return f, nil
}

func (d *fakeFiles) Describe(_ context.Context, address string) (author.Enclosure, error) {
	if !strings.HasPrefix(address, "https://") {
		return author.Enclosure{}, fault.New(fault.Invalid, "The address of the file, %q, is none: it must begin with http:// or https://.", address)
	}
	return author.Enclosure{URL: address, Type: "audio/mpeg", Length: 12_345_678}, nil
}

func (d *fakeFiles) Path(f author.File) string {
	return "/" + f.User + "/media/" + f.Hash[:16] + "/" + f.Name
}

// writeHarness is a riverHarness with posts and files.
type writeHarness struct {
	*riverHarness
	fakePostStore *fakePostStore
	fakeFiles     *fakeFiles
	posts         *author.Posts
}

func newWriteHarness(t *testing.T) *writeHarness {
	t.Helper()
	x := newRiverHarness(t)
	posts, sh := newPosts(x.fake)
	d := newFakeFiles()
	x.Posts, x.Files = author.Groups{Posts: posts}, d
	x.pages, x.author = x.Routes(), x.AuthorPage()
	return &writeHarness{x, sh, d, posts}
}

func (x *writeHarness) as(name string) *writeHarness {
	x.Helper()
	x.riverHarness.as(name)
	return x
}

// write creates a post of a user.
func (x *writeHarness) write(user string, to author.State, c author.Content) author.Post {
	x.Helper()
	p, err := x.posts.Save(x.Context(), author.Edit{User: user, To: to, Change: func(n *author.Content) error { *n = c; return nil }})
	if err != nil {
		x.Fatal(err)
	}
	return p
}
