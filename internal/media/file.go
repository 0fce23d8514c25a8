package media

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"cloudburst/internal/fault"
)

// Limits of one file.
const (
	maxParts  = 100_000     // pieces that are kept or left out
	maxPixels = 400_000_000 // of a picture: more fill the memory of whoever looks at it
	maxBox    = 8 << 20     // bytes of a table that is read whole
)

// File is a file that was looked at.
type File struct {
	Kind
	Width, Height int     // pixels as it is seen, the way up considered; 0: not known
	Duration      float64 // seconds; 0: not known

	src   io.ReaderAt
	size  int64 // of src
	parts []part
	n     int64
}

// part is a piece of the outcome: of the source, bytes of our own, or zeros.
type part struct {
	from, to int64
	own      []byte
	zero     bool
}

func (p part) len() int64 {
	if p.own != nil {
		return int64(len(p.own))
	}
	return p.to - p.from
}

// Inspect finds out what the file is whose bytes r has, and plans what of it is kept. r is read
// once here and once more by Reader. The fault.Invalid of a file that is not what it
// begins as says what is wrong with it. Other errors are those of r.
//
// spec:cloudburst#media-no-place
func Inspect(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, min(size, HeadSize))
	if n, err := r.ReadAt(head, 0); err != nil && (!errors.Is(err, io.EOF) || n < len(head)) {
		return nil, err
	}
	f := &File{Kind: Detect(head), src: r, size: size}
	err := f.walk()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = reject("The file begins like %s and ends in the middle; it was not taken. Send it again, whole.", f.Description)
	}
	if err != nil {
		return nil, err
	}
	if len(f.parts) > maxParts {
		return nil, f.broken("it is cut into too many pieces")
	}
	if int64(f.Width)*int64(f.Height) > maxPixels {
		return nil, reject("The picture has %d by %d pixels; at most %d million are taken.", f.Width, f.Height, maxPixels/1_000_000)
	}
	return f, nil
}

func (f *File) walk() error {
	switch f.form {
	case formJPEG:
		return f.jpeg()
	case formPNG:
		return f.png()
	case formGIF:
		return f.gif()
	case formWebP:
		return f.webp()
	case formHEIF:
		return f.heif()
	case formMP4:
		return f.mp4()
	case formRejected:
		return reject("The file is %s, from which the place where it was taken cannot be removed here. Save it as JPEG, PNG or WebP and send that.", f.Description)
	}
	f.keep(0, f.size)
	switch f.form {
	case formMP3:
		return f.mp3()
	case formWAV:
		return f.wav()
	case formFLAC:
		return f.flac()
	}
	return nil
}

// Size is how many bytes Reader gives.
func (f *File) Size() int64 { return f.n }

// Reader gives the file as it is to be kept. It may be called more than once.
func (f *File) Reader() io.Reader { return &partReader{f: f} }

type partReader struct {
	f    *File
	next int
	now  io.Reader
}

func (r *partReader) Read(b []byte) (int, error) {
	for {
		if r.now == nil {
			if r.next == len(r.f.parts) {
				return 0, io.EOF
			}
			p := r.f.parts[r.next]
			r.next++
			switch {
			case p.own != nil:
				r.now = bytes.NewReader(p.own)
			case p.zero:
				r.now = io.LimitReader(zeros{}, p.len())
			default:
				r.now = io.NewSectionReader(r.f.src, p.from, p.len())
			}
		}
		n, err := r.now.Read(b)
		if errors.Is(err, io.EOF) {
			r.now, err = nil, nil
		}
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// keep takes bytes of the source into the outcome. One place more than may be is
// counted, and refused in the end.
func (f *File) keep(from, to int64) {
	if from >= to {
		return
	}
	f.n += to - from
	if last := len(f.parts) - 1; last >= 0 && f.parts[last].own == nil && !f.parts[last].zero && f.parts[last].to == from {
		f.parts[last].to = to
		return
	}
	f.add(part{from: from, to: to})
}

// put takes bytes of our own into the outcome.
func (f *File) put(own []byte) {
	f.n += int64(len(own))
	f.add(part{own: own})
}

func (f *File) add(p part) {
	if len(f.parts) <= maxParts {
		f.parts = append(f.parts, p)
	}
}

// edit is a place of the source that is overwritten: with own, or zeros up to the
// length of to-from.
type edit struct {
	from, to int64
	own      []byte
}

// overwrite makes the outcome of the source up to end, and edits, which may overlap.
func (f *File) overwrite(end int64, edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at := int64(0)
	for _, e := range edits {
		if e.own != nil && e.from < at { // it is zero already
			continue
		}
		from, to := max(e.from, at), min(e.to, end)
		if from >= to {
			continue
		}
		f.keep(at, from)
		if e.own != nil {
			f.put(e.own)
		} else {
			f.n += to - from
			f.add(part{from: from, to: to, zero: true})
		}
		at = to
	}
	f.keep(at, end)
}

// table reads bytes of the source that must be in memory whole.
func (f *File) table(from, to int64) ([]byte, error) {
	if from > to || to > f.size {
		return nil, io.ErrUnexpectedEOF
	}
	if to-from > maxBox {
		return nil, f.broken("one of its tables has %d bytes", to-from)
	}
	b := make([]byte, to-from)
	if n, err := f.src.ReadAt(b, from); err != nil && (!errors.Is(err, io.EOF) || n < len(b)) {
		return nil, err
	}
	return b, nil
}

// cursor reads the source from the beginning, and knows where it is.
type cursor struct {
	in  *bufio.Reader
	pos int64
}

func (f *File) cursor() *cursor {
	return &cursor{in: bufio.NewReaderSize(io.NewSectionReader(f.src, 0, f.size), 64<<10)}
}

func (c *cursor) byte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.pos++
	}
	return b, err
}

func (c *cursor) read(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(c.in, b)
	c.pos += int64(got)
	return b, err
}

func (c *cursor) skip(n int64) error {
	for n > 0 {
		k, err := c.in.Discard(int(min(n, 1<<30)))
		c.pos += int64(k)
		n -= int64(k)
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) u16() (int, error) {
	b, err := c.read(2)
	if err != nil {
		return 0, err
	}
	return int(binary.BigEndian.Uint16(b)), nil
}

// broken is a file that is not what it begins as.
func (f *File) broken(format string, args ...any) error {
	return reject("The file begins like %s and is none: "+format+". It was not taken.", append([]any{f.Description}, args...)...)
}

func reject(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }
