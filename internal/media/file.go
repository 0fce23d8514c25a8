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

// These are the limits of one file.
const (
	maxParts  = 100_000     // maximum number of segments of the output
	maxPixels = 400_000_000 // maximum number of pixels; a larger image could exhaust the memory of a viewer
	maxBox    = 8 << 20     // maximum bytes of a table that is read as a whole
)

// File is the result of inspecting a file.
type File struct {
	Kind
	Width, Height int     // pixels as displayed, with the orientation applied; 0: unknown
	Duration      float64 // seconds; 0: unknown

	src   io.ReaderAt
	size  int64 // size of src in bytes
	parts []part
	n     int64
}

// part is a segment of the output: a range of the source, new bytes in own, or zeros.
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

// Inspect detects the type of the file in r and plans which bytes to keep. It reads r once;
// File.Reader reads r again. fault.Invalid: the file does not match its signature, is incomplete,
// has too many parts or pixels, or has a location that cannot be removed; the message states the
// reason. Inspect also returns the errors of r.
//
// spec:cloudburst#media-metadata-removed
func Inspect(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, min(size, HeadSize))
	if n, err := r.ReadAt(head, 0); err != nil && (!errors.Is(err, io.EOF) || n < len(head)) {
		return nil, err
	}
	f := &File{Kind: Detect(head), src: r, size: size}
	err := f.walk()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = reject("The file starts like %s but is incomplete; it was not accepted. Send the complete file again.", f.Description)
	}
	if err != nil {
		return nil, err
	}
	if len(f.parts) > maxParts {
		return nil, f.invalid("it has too many parts")
	}
	if int64(f.Width)*int64(f.Height) > maxPixels {
		return nil, reject("The image has %d by %d pixels; at most %d million are accepted.", f.Width, f.Height, maxPixels/1_000_000)
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
		return reject("The file is %s; its location data cannot be removed here. Save it as JPEG, PNG or WebP and send that.", f.Description)
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

// Size returns the number of bytes that Reader returns.
func (f *File) Size() int64 { return f.n }

// Reader returns the cleaned file. It may be called more than once.
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

// keep copies the range [from, to) of the source to the output. If there are more than maxParts
// parts, add stores only one further part, and Inspect rejects the file.
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

// put appends own, which is not part of the source, to the output.
func (f *File) put(own []byte) {
	f.n += int64(len(own))
	f.add(part{own: own})
}

func (f *File) add(p part) {
	if len(f.parts) <= maxParts {
		f.parts = append(f.parts, p)
	}
}

// edit overwrites the range [from, to) of the source with own, or with zeros if own is nil.
type edit struct {
	from, to int64
	own      []byte
}

// overwrite copies the source up to end to the output and applies edits, which may overlap.
func (f *File) overwrite(end int64, edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at := int64(0)
	for _, e := range edits {
		if e.own != nil && e.from < at { // the range is already overwritten with zeros
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

// readTable reads a range of the source into memory.
func (f *File) readTable(from, to int64) ([]byte, error) {
	if from > to || to > f.size {
		return nil, io.ErrUnexpectedEOF
	}
	if to-from > maxBox {
		return nil, f.invalid("one of its tables has %d bytes, which is too large", to-from)
	}
	b := make([]byte, to-from)
	if n, err := f.src.ReadAt(b, from); err != nil && (!errors.Is(err, io.EOF) || n < len(b)) {
		return nil, err
	}
	return b, nil
}

// cursor reads the source from the start and tracks its position.
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

// invalid returns the error for a file that does not match its signature.
func (f *File) invalid(format string, args ...any) error {
	return reject("The file starts like %s but is not valid: "+format+". It was not accepted.", append([]any{f.Description}, args...)...)
}

func reject(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }
