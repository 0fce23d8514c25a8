package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/media"
)

// fileReader reads a file piece by piece, with one piece in memory.
type fileReader struct {
	ctx   context.Context
	store FileStore
	file  File
	at    int64
	have  int // number of piece; -1: none
	piece []byte
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
	n := int(r.at / PieceSize)
	if n != r.have {
		b, err := r.store.FilePieceAt(r.ctx, r.file.Hash, n)
		if err != nil {
			return 0, fmt.Errorf("piece %d of the file %s: %w", n, r.file.Hash, err)
		}
		if want := min(r.file.Size-int64(n)*PieceSize, PieceSize); int64(len(b)) != want {
			return 0, fmt.Errorf("piece %d of the file %s has %d bytes instead of %d", n, r.file.Hash, len(b), want)
		}
		r.have, r.piece = n, b
	}
	k := copy(p, r.piece[r.at%PieceSize:])
	r.at += int64(k)
	return k, nil
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

// Close releases the memory.
func (r *fileReader) Close() error {
	r.store, r.piece = nil, nil
	return nil
}

// ReadAt reads at an offset. It moves the position of Read.
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
	// About returns a file's type, size and first bytes. Its errors are for users.
	About(ctx context.Context, url string) (RemoteFile, error)
}

// RemoteFile is the description of a file by its server.
type RemoteFile struct {
	Type   string // Content-Type; "": unknown
	Length int64  // bytes; 0: unknown
	Head   []byte // first bytes, if they were read
}

// Describe returns type and length of a file for an enclosure. It looks up files of this server by
// path or URL, and queries other servers. fault.NotFound, fault.Invalid, fault.Unreadable.
func (s *Files) Describe(ctx context.Context, address string) (Enclosure, error) {
	if user, hash, ok := s.own(address); ok {
		return s.describeOwn(ctx, user, hash)
	}
	address, err := checkURL("file", address, false)
	if err != nil {
		return Enclosure{}, err
	}
	if address == "" {
		return Enclosure{}, fault.New(fault.Invalid, "The address of the file is missing.")
	}
	e := Enclosure{URL: address}
	if s.Remote == nil {
		e.Type = href.MediaType(address)
		return e, nil
	}
	about, err := s.Remote.About(ctx, address)
	if err != nil {
		return Enclosure{}, err
	}
	e.Length = max(about.Length, 0)
	e.Type, _, _ = mime.ParseMediaType(about.Type) // an invalid type counts as unknown
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

// isGeneric reports types that servers send for unknown files.
func isGeneric(t string) bool {
	return t == "" || t == "application/octet-stream" || t == "binary/octet-stream" || t == "text/plain"
}

// own splits the URL or path of a file of this server.
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

func (s *Files) describeOwn(ctx context.Context, user, hash string) (Enclosure, error) {
	f, r, err := s.Open(ctx, user, hash)
	if err != nil {
		return Enclosure{}, err
	}
	defer r.Close()
	e := Enclosure{URL: s.Path(f), Length: f.Size}
	e.Type, _, _ = strings.Cut(f.Type, ";")
	top, _, _ := strings.Cut(f.Type, "/")
	at, ok := r.(io.ReaderAt)
	if top != "audio" && top != "video" || !ok {
		return e, nil
	}
	inspected, err := media.Inspect(at, f.Size)
	if err != nil {
		if fault.CodeOf(err) == fault.Invalid { // accepted by an earlier version of this program
			return e, nil
		}
		return e, err
	}
	e.Duration = math.Round(inspected.Duration*100) / 100
	return e, nil
}

// sizeWords formats a size for users.
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
