// Package upload stores the files that authors upload for posts: images, audio and others.
//
// Start with [Files.Put] and [Files.Open].
package upload

import (
	"cmp"
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

	"cloudburst/internal/author"
	"cloudburst/internal/date"
	"cloudburst/internal/fault"
	"cloudburst/internal/media"
)

// Default limits of files in bytes.
const (
	DefaultMaxFile   = 64 << 20
	DefaultFileQuota = 1 << 30
)

// maxPuts is the number of files checked and stored concurrently.
const maxPuts = 4

// Files stores images, audio and other files of authors. Files are identified by content: equal
// bytes are stored once, under any name. Store is required. Do not copy it.
//
// The stored bytes may differ from the uploaded ones: see package media for the metadata that is
// removed from images and videos.
type Files struct {
	Store author.FileStore
	// Objects stores the content of files; nil: the database does.
	Objects author.Objects
	// Posts is searched for posts that use a file; nil: no check.
	Posts author.PostStore
	// CheckUser returns a fault if there is no such user or the user may not publish. nil: every
	// user may publish.
	CheckUser func(ctx context.Context, user string) error
	// Origin returns the public URL of this server; nil: files have paths only.
	Origin func() string
	Remote Remote           // queries files on other servers; nil: no queries
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil is silent
	Temp   string           // folder for uploads in progress; "": the system's

	MaxSize int64 // limit of one file in bytes [DefaultMaxFile]
	Quota   int64 // limit of all files of a user in bytes [DefaultFileQuota]; negative: no limit

	start    sync.Once
	putSlots chan struct{}
}

// Put stores a file of a user, read from r to its end, and returns the stored file. name and
// contentType are the sender's and must match the content. A file that exists already is returned
// as it is. If r fails, nothing is stored.
//
// The faults are for users: Invalid (too large, not of the declared type, or an image whose
// location cannot be removed), TooMany (the quota is reached), Refused, Unavailable.
func (s *Files) Put(ctx context.Context, user, name, contentType string, r io.Reader) (author.File, error) {
	if s.CheckUser != nil {
		if err := s.CheckUser(ctx, user); err != nil {
			return author.File{}, err
		}
	}
	spool, size, err := s.spool(r)
	if err != nil {
		return author.File{}, err
	}
	defer func() {
		if err := errors.Join(spool.Close(), os.Remove(spool.Name())); err != nil {
			s.log().WarnContext(ctx, "could not remove the temporary file of an upload", "err", err)
		}
	}()
	s.start.Do(func() { s.putSlots = make(chan struct{}, maxPuts) })
	select {
	case s.putSlots <- struct{}{}:
		defer func() { <-s.putSlots }()
	case <-ctx.Done():
		return author.File{}, fault.Wrap(fault.Unavailable, ctx.Err(), "The upload was canceled.")
	}
	inspected, err := inspectFile(spool, size, name, contentType)
	if err != nil {
		return author.File{}, err
	}
	f := author.File{User: user, Name: inspected.Name(name), Type: inspected.Type, Size: inspected.Size(), Width: inspected.Width, Height: inspected.Height, AddedAt: s.now()}
	sum := sha256.New()
	if _, err := io.Copy(sum, inspected.Reader()); err != nil {
		return author.File{}, fault.Wrap(fault.Unavailable, err, "The uploaded file could not be read again.")
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	switch existing, err := s.Store.File(ctx, user, f.Hash); {
	case err == nil:
		existing.Name = f.Name // name of this upload; the stored file keeps its first name
		return existing, nil
	case fault.CodeOf(err) != fault.NotFound:
		return author.File{}, err
	}
	return s.store(ctx, f, inspected.Reader)
}

// spool copies an upload to a temporary file.
func (s *Files) spool(r io.Reader) (spool *os.File, size int64, err error) {
	if spool, err = os.CreateTemp(s.Temp, "cloudburst-file-*"); err != nil {
		return nil, 0, fault.Wrap(fault.Unavailable, err, "The upload cannot be stored temporarily.")
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
		return spool, 0, fault.New(fault.Invalid, "The file is larger than %s, which is the limit; nothing was stored.", sizeWords(limit))
	case from.err != nil:
		return spool, 0, fault.Wrap(fault.Invalid, from.err, "The upload is incomplete; nothing was stored. Send the file again.")
	case err != nil:
		return spool, 0, fault.Wrap(fault.Unavailable, err, "The upload cannot be stored temporarily.")
	case size == 0:
		return spool, 0, fault.New(fault.Invalid, "The file is empty; nothing was stored.")
	}
	return spool, size, nil
}

// errorReader records read errors, to distinguish them from write errors.
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

// inspectFile compares the content of a file with its name and declared type.
func inspectFile(r io.ReaderAt, size int64, name, contentType string) (*media.File, error) {
	head := make([]byte, min(size, media.HeadSize))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fault.Wrap(fault.Unavailable, err, "The uploaded file could not be read again.")
	}
	if err := media.Detect(head).Check(name, contentType); err != nil {
		return nil, err
	}
	f, err := media.Inspect(r, size)
	if err != nil && fault.CodeOf(err) != fault.Invalid {
		err = fault.Wrap(fault.Unavailable, err, "The uploaded file could not be read again.")
	}
	return f, err
}

// store writes the content of a file; the last step assigns the file to the user.
func (s *Files) store(ctx context.Context, f author.File, open func() io.Reader) (author.File, error) {
	temp := rand.Text()
	err := s.putContent(ctx, f, temp, open)
	stored := author.File{}
	if err == nil {
		stored, err = s.Store.KeepFile(ctx, f, temp, s.quota())
	}
	if err == nil {
		return stored, nil
	}
	// The cleanup does not depend on the sender's connection. If it fails, Sweep deletes the
	// pieces.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if dropping := s.Store.DropFilePieces(after, temp); dropping != nil {
		s.log().WarnContext(ctx, "could not delete the pieces of a rejected file; the sweep deletes them", "err", dropping)
	}
	if fault.CodeOf(err) == fault.TooMany {
		err = fault.Wrap(fault.TooMany, err, "The file has %s, and your files together would exceed your quota of %s; it was not stored. Delete files that you do not need.", sizeWords(f.Size), sizeWords(s.quota()))
	}
	return author.File{}, err
}

// putContent writes the content of a file as one object, or else as pieces.
func (s *Files) putContent(ctx context.Context, f author.File, temp string, open func() io.Reader) error {
	if s.Objects != nil {
		if err := s.Store.BeginObject(ctx, temp, s.now()); err != nil {
			return err
		}
		return s.Objects.Put(ctx, temp, f.Type, f.Size, f.Hash, open)
	}
	r, buf := open(), make([]byte, author.PieceSize)
	for n := 0; ; n++ {
		got, err := io.ReadFull(r, buf)
		if got > 0 {
			if err := s.Store.PutFilePiece(ctx, temp, n, buf[:got], s.now()); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fault.Wrap(fault.Unavailable, err, "The uploaded file could not be read again.")
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

// Get returns a file by its hash, or by at least the first 16 digits of it. fault.NotFound.
func (s *Files) Get(ctx context.Context, user, hash string) (author.File, error) {
	if !isHash(hash) {
		return author.File{}, fault.New(fault.NotFound, "There is no such file.")
	}
	return s.Store.File(ctx, user, hash)
}

// Open opens a file for reading and seeking. The caller must close the result, which is not safe
// for concurrent use and reads until ctx ends.
func (s *Files) Open(ctx context.Context, user, hash string) (author.File, io.ReadSeekCloser, error) {
	f, err := s.Get(ctx, user, hash)
	if err != nil {
		return author.File{}, nil, err
	}
	return f, s.reader(ctx, f), nil
}

// List lists a user's files, newest first, after the given one (nil: from the beginning). limit is
// at most 1,000; 0 means 100.
func (s *Files) List(ctx context.Context, user string, after *author.File, limit int) ([]author.File, error) {
	return s.Store.Files(ctx, user, after, limit)
}

// Path returns the path of a file: "/alice/media/<first 16 digits of its hash>/<name>".
func (s *Files) Path(f author.File) string {
	return "/" + f.User + "/media/" + f.Hash[:min(16, len(f.Hash))] + "/" + f.Name
}

// UsedBy returns at most limit posts that use a file, without deleted posts.
func (s *Files) UsedBy(ctx context.Context, f author.File, limit int) (posts []author.Post, err error) {
	if s.Posts == nil {
		return nil, nil
	}
	path := "/" + f.User + "/media/" + f.Hash[:min(16, len(f.Hash))] + "/"
	var after *author.Post
	for {
		batch, err := s.Posts.Posts(ctx, author.PostQuery{User: f.User, After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		for i := range batch {
			if batch[i].Mentions(path) {
				if posts = append(posts, batch[i]); len(posts) >= limit {
					return posts, nil
				}
			}
		}
		if len(batch) < 500 {
			return posts, nil
		}
		after = &batch[len(batch)-1]
	}
}

// Remove deletes a file. If a post uses the file, Remove requires sure; otherwise a fault.Conflict
// names the post. fault.NotFound.
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
			return fault.New(fault.Conflict, "%s is used in the post “%s”%s, which would lose it; it was not deleted.", f.Name, posts[0].Label(), more)
		}
	}
	return s.Store.RemoveFile(ctx, user, f.Hash)
}

// maxUpload is the age of an upload in progress that is deleted as abandoned.
const maxUpload = 24 * time.Hour

// Sweep deletes the content of deleted files and of abandoned uploads. If there are Objects, it also
// moves content into them that the database has. Call it about once an hour.
func (s *Files) Sweep(ctx context.Context) error {
	if s.Objects == nil {
		return s.Store.SweepFiles(ctx, s.now().Add(-maxUpload), nil)
	}
	return errors.Join(s.Store.SweepFiles(ctx, s.now().Add(-maxUpload), s.Objects.Delete), s.moveToObjects(ctx))
}

// moveBatch is the number of files that are listed at once to move their content.
const moveBatch = 100

// moveToObjects moves all content in pieces into objects.
func (s *Files) moveToObjects(ctx context.Context) error {
	for {
		list, err := s.Store.FilesInPieces(ctx, moveBatch)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, f := range list {
			temp := rand.Text()
			if err := s.putContent(ctx, f, temp, func() io.Reader { return s.reader(ctx, f) }); err != nil {
				return err
			}
			if err := s.Store.ReplacePieces(ctx, f.Hash, temp); err != nil {
				return err
			}
		}
	}
}

// isHash reports whether s has 16 to 64 hexadecimal digits.
func isHash(s string) bool {
	return len(s) >= 16 && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !strings.ContainsRune("0123456789abcdef", r)
	})
}

func (s *Files) now() time.Time {
	return date.Now(s.Now).UTC().Truncate(time.Millisecond)
}

func (s *Files) log() *slog.Logger {
	return cmp.Or(s.Log, slog.New(slog.DiscardHandler))
}

// InGroup reports whether a private post for a group uses a file.
func (s *Files) InGroup(ctx context.Context, f author.File, slug string) (bool, error) {
	return s.Store.FileInGroup(ctx, f.User, slug, f.Hash)
}
