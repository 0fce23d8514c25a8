package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/media"
)

// objectPiece is the number of bytes of an object that one request reads.
const objectPiece = 1 << 20

// fileReader reads a file in pieces and holds one piece in memory.
type fileReader struct {
	ctx     context.Context
	store   author.FileStore
	objects author.Objects
	file    author.File
	object  string // name of the object; "": the content is in pieces
	size    int64  // size of a piece in bytes; 0: not known yet, and object is not set
	at      int64
	have    int64 // number of the piece in memory; -1: no piece
	piece   []byte
}

func (s *Files) reader(ctx context.Context, f author.File) *fileReader {
	return &fileReader{ctx: ctx, store: s.Store, objects: s.Objects, file: f, have: -1}
}

func (r *fileReader) Read(p []byte) (int, error) {
	if r.store == nil {
		return 0, errors.New("author: the file is closed")
	}
	if r.at >= r.file.Size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if err := r.load(); err != nil {
		return 0, fmt.Errorf("byte %d of the file %s: %w", r.at, r.file.Hash, err)
	}
	k := copy(p, r.piece[r.at%r.size:])
	r.at += int64(k)
	return k, nil
}

// load reads the piece at the current position. The content can move from pieces into an object
// while the file is read.
func (r *fileReader) load() error {
	known := r.size > 0
	if !known {
		if err := r.locate(); err != nil {
			return err
		}
	}
	err := r.loadPiece()
	if known && r.object == "" && fault.CodeOf(err) == fault.NotFound {
		if err = r.locate(); err == nil {
			err = r.loadPiece()
		}
	}
	return err
}

// locate sets object, the name of the object with the content.
func (r *fileReader) locate() (err error) {
	if r.object, err = r.store.FileObject(r.ctx, r.file.Hash); err != nil {
		return err
	}
	r.size, r.have = author.PieceSize, -1
	if r.object != "" {
		if r.size = objectPiece; r.objects == nil {
			return fault.Wrap(fault.Unavailable, errors.New("its content is in a bucket, and media.bucket is not set"), "The file storage is not available.")
		}
	}
	return nil
}

func (r *fileReader) loadPiece() (err error) {
	n := r.at / r.size
	if n == r.have {
		return nil
	}
	want := min(r.file.Size-n*r.size, r.size)
	var b []byte
	if r.object != "" {
		b, err = r.objects.Read(r.ctx, r.object, n*r.size, int(want))
	} else {
		b, err = r.store.FilePieceAt(r.ctx, r.file.Hash, int(n))
	}
	if err == nil && int64(len(b)) != want {
		err = fmt.Errorf("piece %d has %d bytes instead of %d", n, len(b), want)
	}
	if err == nil {
		r.have, r.piece = n, b
	}
	return err
}

func (r *fileReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.file.Size
	}
	if offset < 0 {
		return 0, errors.New("author: seek before the beginning of the file")
	}
	r.at = offset
	return offset, nil
}

// Close releases the memory of the piece. Further reads fail.
func (r *fileReader) Close() error {
	r.store, r.piece = nil, nil
	return nil
}

// ReadAt reads at an offset. It changes the position of Read, so it is not safe for concurrent use.
func (r *fileReader) ReadAt(p []byte, off int64) (int, error) {
	if _, err := r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Remote queries files on other servers.
type Remote interface {
	// About returns the type, the size and the first bytes of a file. The texts of its errors are
	// for users.
	About(ctx context.Context, url string) (RemoteFile, error)
}

// RemoteFile is the description of a file by its server.
type RemoteFile struct {
	Type   string // Content-Type; "": unknown
	Length int64  // size in bytes; 0: unknown
	Head   []byte // first bytes of the file; empty: not read
}

// Describe returns an enclosure with the type and the length of a file. address is a path or a URL.
// Describe queries the server of a file that is on another server. Errors: fault.NotFound (this
// server has no such file), fault.Invalid (the address), fault.Unreadable (the other server does
// not return the file).
func (s *Files) Describe(ctx context.Context, address string) (author.Enclosure, error) {
	if user, hash, ok := s.own(address); ok {
		return s.describeOwn(ctx, user, hash)
	}
	address, err := author.CheckURL("file", address, false)
	if err != nil {
		return author.Enclosure{}, err
	}
	if address == "" {
		return author.Enclosure{}, fault.New(fault.Invalid, "The address of the file is missing.")
	}
	e := author.Enclosure{URL: address}
	if s.Remote == nil {
		e.Type = href.MediaType(address)
		return e, nil
	}
	about, err := s.Remote.About(ctx, address)
	if err != nil {
		return author.Enclosure{}, err
	}
	e.Length = max(about.Length, 0)
	e.Type, _, _ = mime.ParseMediaType(about.Type) // an invalid type becomes "", which means unknown
	if isGeneric(e.Type) && len(about.Head) > 0 {
		e.Type, _, _ = strings.Cut(media.Detect(about.Head).Type, ";")
	}
	if isGeneric(e.Type) {
		if known := href.MediaType(address); known != "" {
			e.Type = known
		}
	}
	if e.Type == "" {
		e.Type = "application/octet-stream"
	}
	return e, nil
}

// isGeneric reports whether a server sends this type for files of unknown types.
func isGeneric(t string) bool {
	return t == "" || t == "application/octet-stream" || t == "binary/octet-stream" || t == "text/plain"
}

// own returns the user and the hash in the path or URL of a file on this server. ok is false for
// other addresses.
func (s *Files) own(address string) (user, hash string, ok bool) {
	if s.Origin != nil {
		if origin := s.Origin(); origin != "" && strings.HasPrefix(address, origin+"/") {
			address = address[len(origin):]
		}
	}
	parts := strings.Split(address, "/")
	if len(parts) != 5 || parts[0] != "" || parts[2] != "media" || !isHash(parts[3]) {
		return "", "", false
	}
	return parts[1], parts[3], true
}

func (s *Files) describeOwn(ctx context.Context, user, hash string) (author.Enclosure, error) {
	f, r, err := s.Open(ctx, user, hash)
	if err != nil {
		return author.Enclosure{}, err
	}
	defer r.Close()
	e := author.Enclosure{URL: s.Path(f), Length: f.Size}
	e.Type, _, _ = strings.Cut(f.Type, ";")
	top, _, _ := strings.Cut(f.Type, "/")
	at, ok := r.(io.ReaderAt)
	if top != "audio" && top != "video" || !ok {
		return e, nil
	}
	inspected, err := media.Inspect(at, f.Size)
	if err != nil {
		if fault.CodeOf(err) == fault.Invalid { // an earlier version of this program accepted the address
			return e, nil
		}
		return e, err
	}
	e.Duration = math.Round(inspected.Duration*100) / 100
	return e, nil
}

// sizeWords formats a size in bytes for users.
func sizeWords(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
