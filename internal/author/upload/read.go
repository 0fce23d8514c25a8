package upload

import (
	"context"
	"errors"
	"fmt"
	"io"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
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
