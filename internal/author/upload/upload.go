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
	"cloudburst/internal/text"
)

// Default limits of files in bytes.
const (
	DefaultMaxFile   = 64 << 20
	DefaultFileQuota = 1 << 30
)

// maxPuts is the maximum number of files that are checked and stored at the same time.
const maxPuts = 4

// Files stores images, audio and other files of authors. A file is identified by its content: files
// with equal bytes are stored once, even if they have different names. Store is required. Do not
// copy it.
//
// The stored bytes may differ from the uploaded bytes, because some metadata of images and videos
// is removed; see package media.
type Files struct {
	Store author.FileStore
	// Objects stores the content of files; nil: the database stores the content.
	Objects author.Objects
	// Posts finds the posts that use a file; nil: UsedBy finds no posts.
	Posts author.PostStore
	// CheckUser returns a fault if the user does not exist or may not publish. nil: every user may
	// publish.
	CheckUser func(ctx context.Context, user string) error
	// Origin returns the public URL of this server; nil: files have paths and no URLs.
	Origin func() string
	Remote Remote           // queries files on other servers; nil: other servers are not queried
	Now    func() time.Time // clock; nil: time.Now
	Log    *slog.Logger     // nil: nothing is logged
	Temp   string           // folder for uploads in progress; "": the folder for temporary files of the system

	MaxSize int64 // maximum size of one file in bytes [DefaultMaxFile]
	Quota   int64 // maximum size of all files of a user in bytes [DefaultFileQuota]; negative: no limit

	start    sync.Once
	putSlots chan struct{}
}

// Put reads a file from r to its end, stores the file for a user, and returns the stored file. name
// and contentType are the name and the type that the client sent; the content must match them. If
// the user already has the file, Put returns the existing file. If r fails, nothing is stored. The
// texts of errors are for users: fault.Invalid (the file is too large, does not have the declared
// type, or is an image whose location cannot be removed), fault.TooMany (the quota is reached),
// fault.Refused, fault.Unavailable.
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
		existing.Name = f.Name // the result has the name of this upload; the stored file keeps its first name
		return existing, nil
	case fault.CodeOf(err) != fault.NotFound:
		return author.File{}, err
	}
	return s.store(ctx, f, inspected.Reader)
}

// spool copies an upload to a temporary file.
func (s *Files) spool(r io.Reader) (spool *os.File, size int64, err error) {
	if spool, err = os.CreateTemp(s.Temp, "cloudburst-file-*"); err != nil {
		return nil, 0, fault.Unstored(err, "The upload cannot be stored.")
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
		return spool, 0, fault.New(fault.Invalid, "The file is larger than %s, which is the limit; nothing was stored.", text.SizeWords(limit))
	case from.err != nil:
		return spool, 0, fault.Wrap(fault.Invalid, from.err, "The upload is incomplete; nothing was stored. Send the file again.")
	case err != nil:
		return spool, 0, fault.Unstored(err, "The upload cannot be stored.")
	case size == 0:
		return spool, 0, fault.New(fault.Invalid, "The file is empty; nothing was stored.")
	}
	return spool, size, nil
}

// errorReader records the errors of a reader, so that the caller can distinguish read errors from
// write errors.
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

// inspectFile returns a fault.Invalid if the content of a file does not match its name and declared
// type.
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

// store writes the content of a file. As the last step, it assigns the file to the user.
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
	// The cleanup continues even if the client disconnects. If the cleanup fails, Sweep deletes the
	// pieces.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if dropping := s.Store.DropFilePieces(after, temp); dropping != nil {
		s.log().WarnContext(ctx, "could not delete the pieces of a rejected file; the sweep deletes them", "err", dropping)
	}
	if fault.CodeOf(err) == fault.TooMany {
		err = fault.Wrap(fault.TooMany, err, "The file has %s, and your files together would exceed your quota of %s; it was not stored. Delete files that you do not need.", text.SizeWords(f.Size), text.SizeWords(s.quota()))
	}
	return author.File{}, err
}

// putContent writes the content of a file as one object if there are Objects, otherwise as pieces.
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

// Get returns a file by its hash or by at least the first 16 digits of the hash. fault.NotFound:
// the user has no such file.
func (s *Files) Get(ctx context.Context, user, hash string) (author.File, error) {
	if !isHash(hash) {
		return author.File{}, fault.New(fault.NotFound, "There is no such file.")
	}
	return s.Store.File(ctx, user, hash)
}

// Open opens a file for reading and seeking. The caller must close the result. The result is not
// safe for concurrent use, and its reads fail after ctx ends.
func (s *Files) Open(ctx context.Context, user, hash string) (author.File, io.ReadSeekCloser, error) {
	f, err := s.Get(ctx, user, hash)
	if err != nil {
		return author.File{}, nil, err
	}
	return f, s.reader(ctx, f), nil
}

// List lists a user's files, newest first. It begins with the file that follows after; nil: from
// the beginning. limit is at most 1,000; 0 means 100.
func (s *Files) List(ctx context.Context, user string, after *author.File, limit int) ([]author.File, error) {
	return s.Store.Files(ctx, user, after, limit)
}

// Path returns the path of a file: "/alice/media/<first 16 digits of its hash>/<name>".
func (s *Files) Path(f author.File) string {
	return "/" + f.User + "/media/" + f.Hash[:min(16, len(f.Hash))] + "/" + f.Name
}

// UsedBy returns at most limit posts that use a file. It omits deleted posts.
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

// Remove deletes a file. Errors: fault.Conflict (sure is false and a post, which the error names,
// uses the file), fault.NotFound (the user has no such file).
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

// maxUpload is the age after which an upload in progress counts as abandoned and is deleted.
const maxUpload = 24 * time.Hour

// Sweep deletes the content of deleted files and of abandoned uploads. If there are Objects, Sweep
// also moves content from the database into Objects. Call it about once an hour.
func (s *Files) Sweep(ctx context.Context) error {
	if s.Objects == nil {
		return s.Store.SweepFiles(ctx, s.now().Add(-maxUpload), nil)
	}
	return errors.Join(s.Store.SweepFiles(ctx, s.now().Add(-maxUpload), s.Objects.Delete), s.moveToObjects(ctx))
}

// moveBatch is the number of files that moveToObjects lists at once.
const moveBatch = 100

// moveToObjects moves all content from the pieces in the database into objects.
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
