package author

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"cloudburst/internal/fault"
	"cloudburst/internal/media"
)

// What files may take where nobody says otherwise, in bytes.
const (
	DefaultMaxFile   = 64 << 20
	DefaultFileQuota = 1 << 30
)

// putsAtOnce is how many files are looked at and stored at the same time.
const maxPuts = 4

// Files are the pictures, sounds and other files that authors put beside their posts.
// They are known by their content: the same bytes are there once, whatever they are
// called. Store is needed; everything else may be left out. Do not copy it.
//
// What is kept is not always what was sent: see package media for what is left out of
// pictures and videos.
type Files struct {
	Store FileStore
	// Posts tells which posts a file is used in; nil: nobody can say.
	Posts PostStore
	// Known reports a fault when there is no such user, or nobody may write as him.
	// nil: everybody may.
	CheckUser func(ctx context.Context, user string) error
	// Origin is where strangers reach this server; nil: files have paths only.
	Origin func() string
	Remote Remote           // asks about files elsewhere; nil: nobody does
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil is silent
	Temp   string           // folder for files while they arrive; "": the system's

	MaxSize int64 // of one file, in bytes [DefaultMaxFile]
	Quota   int64 // of all files of a user, in bytes [DefaultFileQuota]; negative: no bound

	start    sync.Once
	putSlots chan struct{}
}

// Put keeps a file of a user, which r gives to its end, and returns it as it is kept.
// name and contentType are what the sender says; they are only held against the bytes.
// The same file again is the one that is there. When r fails nothing is kept.
//
// The faults are for people: Invalid (too large, not what it says it is, a picture that
// cannot be freed of its place), TooMany (the user's room is used up), Refused, Unavailable.
func (s *Files) Put(ctx context.Context, user, name, contentType string, r io.Reader) (File, error) {
	if s.CheckUser != nil {
		if err := s.CheckUser(ctx, user); err != nil {
			return File{}, err
		}
	}
	spool, size, err := s.spool(r)
	if err != nil {
		return File{}, err
	}
	defer func() {
		if err := errors.Join(spool.Close(), os.Remove(spool.Name())); err != nil {
			s.log().WarnContext(ctx, "the spool of a file could not be removed", "err", err)
		}
	}()
	s.start.Do(func() { s.putSlots = make(chan struct{}, maxPuts) })
	select {
	case s.putSlots <- struct{}{}:
		defer func() { <-s.putSlots }()
	case <-ctx.Done():
		return File{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The file was given up by the one who sent it.")
	}
	looked, err := inspectFile(spool, size, name, contentType)
	if err != nil {
		return File{}, err
	}
	f := File{User: user, Name: looked.Name(name), Type: looked.Type, Size: looked.Size(), Width: looked.Width, Height: looked.Height, AddedAt: s.now()}
	sum := sha256.New()
	if _, err := io.Copy(sum, looked.Reader()); err != nil {
		return File{}, fault.Wrap(fault.Unavailable, err, "The file could not be read again after it had arrived.")
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	switch there, err := s.Store.File(ctx, user, f.Hash); {
	case err == nil:
		there.Name = f.Name // of this upload; the address leads to the first one's
		return there, nil
	case fault.CodeOf(err) != fault.NotFound:
		return File{}, err
	}
	return s.store(ctx, f, looked.Reader())
}

// spool takes in a file whole, before anything of it counts.
func (s *Files) spool(r io.Reader) (spool *os.File, size int64, err error) {
	if spool, err = os.CreateTemp(s.Temp, "cloudburst-file-*"); err != nil {
		return nil, 0, fault.Wrap(fault.Unavailable, err, "The file cannot be kept while it arrives.")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, spool.Close(), os.Remove(spool.Name()))
		}
	}()
	limit := s.MaxSize
	if limit <= 0 {
		limit = DefaultMaxFile
	}
	from := &errorReader{r: io.LimitReader(r, limit+1)}
	size, err = io.Copy(spool, from)
	_, cut := errors.AsType[*http.MaxBytesError](from.err)
	switch {
	case cut || size > limit:
		return spool, 0, fault.New(fault.Invalid, "The file is larger than %s, which is the most that is taken; nothing was kept.", sizeWords(limit))
	case from.err != nil:
		return spool, 0, fault.Wrap(fault.Invalid, from.err, "The file did not arrive whole; nothing was kept. Send it again.")
	case err != nil:
		return spool, 0, fault.Wrap(fault.Unavailable, err, "The file cannot be kept while it arrives.")
	case size == 0:
		return spool, 0, fault.New(fault.Invalid, "The file is empty; nothing was kept.")
	}
	return spool, size, nil
}

// failing remembers the error of what it reads, to tell it from those of the disk.
type errorReader struct {
	r   io.Reader
	err error
}

func (f *errorReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// inspectFile holds what a file is against what it is said to be.
func inspectFile(r io.ReaderAt, size int64, name, contentType string) (*media.File, error) {
	head := make([]byte, min(size, media.HeadSize))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fault.Wrap(fault.Unavailable, err, "The file could not be read again after it had arrived.")
	}
	if err := media.Detect(head).Check(name, contentType); err != nil {
		return nil, err
	}
	f, err := media.Inspect(r, size)
	if err != nil && fault.CodeOf(err) != fault.Invalid {
		err = fault.Wrap(fault.Unavailable, err, "The file could not be read again after it had arrived.")
	}
	return f, err
}

// store writes a file piece by piece; only the last step makes it somebody's.
func (s *Files) store(ctx context.Context, f File, r io.Reader) (File, error) {
	temp := rand.Text()
	kept, err := s.pieces(ctx, f, temp, r)
	if err == nil {
		return kept, nil
	}
	// Also when the sender has gone, and what fails here is swept later.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if dropping := s.Store.DropFilePieces(after, temp); dropping != nil {
		s.log().WarnContext(ctx, "the pieces of a file that was not kept are left for later", "err", dropping)
	}
	if fault.CodeOf(err) == fault.TooMany {
		err = fault.Wrap(fault.TooMany, err, "The file has %s, and your files would be larger than %s together, which is your room here; it was not kept. Remove some that you do not need.", sizeWords(f.Size), sizeWords(s.quota()))
	}
	return File{}, err
}

func (s *Files) pieces(ctx context.Context, f File, temp string, r io.Reader) (File, error) {
	buf := make([]byte, PieceSize)
	for n := 0; ; n++ {
		got, err := io.ReadFull(r, buf)
		if got > 0 {
			if err := s.Store.PutFilePiece(ctx, temp, n, buf[:got], s.now()); err != nil {
				return File{}, err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return s.Store.KeepFile(ctx, f, temp, s.quota())
		case err != nil:
			return File{}, fault.Wrap(fault.Unavailable, err, "The file could not be read again after it had arrived.")
		}
	}
}

func (s *Files) quota() int64 {
	switch {
	case s.Quota < 0:
		return 0
	case s.Quota == 0:
		return DefaultFileQuota
	}
	return s.Quota
}

// Get returns a file by its hash, or the first 16 or more digits of it; fault.NotFound.
func (s *Files) Get(ctx context.Context, user, hash string) (File, error) {
	if !isHash(hash) {
		return File{}, fault.New(fault.NotFound, "There is no such file.")
	}
	return s.Store.File(ctx, user, hash)
}

// Open opens a file for reading, from any place of it. What it returns must be closed,
// is for one reader, and reads until ctx ends.
func (s *Files) Open(ctx context.Context, user, hash string) (File, io.ReadSeekCloser, error) {
	f, err := s.Get(ctx, user, hash)
	if err != nil {
		return File{}, nil, err
	}
	return f, &fileReader{ctx: ctx, store: s.Store, file: f, have: -1}, nil
}

// List lists a user's files, the newest first, those after the one given (nil: from the
// beginning). limit is at most 1,000; 0 means 100.
func (s *Files) List(ctx context.Context, user string, after *File, limit int) ([]File, error) {
	return s.Store.Files(ctx, user, after, limit)
}

// Path is where a file is read: "/alice/media/<first 16 digits of its hash>/<name>".
func (s *Files) Path(f File) string {
	return "/" + f.User + "/media/" + f.Hash[:min(16, len(f.Hash))] + "/" + f.Name
}

// Users are posts in which a file is used, at most limit of them, deleted ones not.
func (s *Files) UsedBy(ctx context.Context, f File, limit int) (posts []Post, err error) {
	if s.Posts == nil {
		return nil, nil
	}
	path := "/" + f.User + "/media/" + f.Hash[:min(16, len(f.Hash))] + "/"
	var after *Post
	for {
		page, err := s.Posts.Posts(ctx, PostQuery{User: f.User, After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].mentions(path) {
				if posts = append(posts, page[i]); len(posts) >= limit {
					return posts, nil
				}
			}
		}
		if len(page) < 500 {
			return posts, nil
		}
		after = &page[len(page)-1]
	}
}

// mentions reports a post with that path in its text, its files or its outline.
func (c *Content) mentions(path string) bool {
	if strings.Contains(c.Source, path) || strings.Contains(c.HTML, path) || strings.Contains(c.Link, path) || enclosed(c.Enclosures, path) {
		return true
	}
	return inNodes(c.Outline, path)
}

func inNodes(nodes []Node, path string) bool {
	for _, n := range nodes {
		if strings.Contains(n.Text, path) || strings.Contains(n.Link, path) || enclosed(n.Enclosures, path) || inNodes(n.Nodes, path) {
			return true
		}
	}
	return false
}

func enclosed(list []Enclosure, path string) bool {
	for _, e := range list {
		if strings.Contains(e.URL, path) {
			return true
		}
	}
	return false
}

// Remove takes a file away. While a post uses it, it does so only when sure; otherwise
// a fault.Conflict names the post. fault.NotFound.
func (s *Files) Remove(ctx context.Context, user, hash string, sure bool) error {
	f, err := s.Get(ctx, user, hash)
	if err != nil {
		return err
	}
	if !sure {
		posts, err := s.UsedBy(ctx, f, 2)
		if err != nil {
			return err
		}
		if len(posts) > 0 {
			more := ""
			if len(posts) > 1 {
				more = " and others"
			}
			return fault.New(fault.Conflict, "%s is used in the post “%s”%s, which would lose it; it was not removed.", f.Name, postWords(posts[0]), more)
		}
	}
	return s.Store.RemoveFile(ctx, user, f.Hash)
}

// postWords is how a person knows a post again.
func postWords(p Post) string {
	s := p.Title
	if s == "" {
		s = strings.Join(strings.Fields(textOf(p.HTML)), " ")
	}
	if s == "" {
		return "without words of " + p.CreatedAt.Format("2 January 2006")
	}
	return clipRunes(s, 60)
}

// Sweep removes the bytes of removed files, and what was left of uploads that nobody
// ended. Call it about once an hour.
func (s *Files) Sweep(ctx context.Context) error {
	return s.Store.SweepFiles(ctx, s.now().Add(-time.Hour))
}

// isHash reports 16 to 64 hexadecimal digits.
func isHash(s string) bool {
	return len(s) >= 16 && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !strings.ContainsRune("0123456789abcdef", r)
	})
}

func (s *Files) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC().Truncate(time.Millisecond)
	}
	return time.Now().UTC().Truncate(time.Millisecond)
}

func (s *Files) log() *slog.Logger {
	if s.Log != nil {
		return s.Log
	}
	return slog.New(slog.DiscardHandler)
}
