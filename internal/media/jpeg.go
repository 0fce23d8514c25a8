package media

import (
	"bytes"
	"encoding/binary"
)

// These are JPEG markers.
const (
	jpegSOI   = 0xd8
	jpegEOI   = 0xd9
	jpegSOS   = 0xda
	jpegAPP0  = 0xe0
	jpegAPP1  = 0xe1
	jpegAPP2  = 0xe2
	jpegAPP14 = 0xee
	jpegAPP15 = 0xef
	jpegCOM   = 0xfe
)

// jpegWalk holds the state of the walk through a JPEG image.
type jpegWalk struct {
	*File
	c      *cursor
	orient int
	frames int
	scans  int
}

// jpeg keeps the image data up to the first end marker. Phones append further images with their own
// Exif after this marker.
func (f *File) jpeg() error {
	w := &jpegWalk{File: f, c: f.cursor()}
	if err := w.c.skip(2); err != nil {
		return err
	}
	f.keep(0, 2)
	marker, err := w.marker()
	for ; err == nil; marker, err = w.marker() {
		if marker == jpegEOI {
			f.keep(w.c.pos-2, w.c.pos)
			break
		}
		if err = w.segment(marker); err != nil {
			return err
		}
		if marker == jpegSOS {
			if err = w.entropy(); err != nil {
				return err
			}
		}
	}
	switch {
	case err != nil:
		return err
	case w.frames != 1 || w.scans == 0 || f.Width == 0 || f.Height == 0:
		return f.invalid("it contains no image")
	}
	f.Width, f.Height = orientedSize(w.orient, f.Width, f.Height)
	return nil
}

// marker reads the next marker and skips fill bytes before it.
func (w *jpegWalk) marker() (byte, error) {
	b, err := w.c.byte()
	if err != nil {
		return 0, err
	}
	if b != 0xff {
		return 0, w.invalid("no segment begins at byte %d", w.c.pos-1)
	}
	for b == 0xff {
		if b, err = w.c.byte(); err != nil {
			return 0, err
		}
	}
	return b, nil
}

// segment reads a segment that has a length, and keeps the segment if decoders need it.
func (w *jpegWalk) segment(marker byte) error {
	start := w.c.pos - 2
	if marker < 0xc0 || marker >= 0xd0 && marker <= jpegSOI {
		return w.invalid("unexpected marker %#x at byte %d", marker, start)
	}
	n, err := w.c.u16()
	if err != nil {
		return err
	}
	if n < 2 {
		return w.invalid("the segment at byte %d has no length", start)
	}
	body, err := w.c.read(n - 2)
	if err != nil {
		return err
	}
	switch {
	case marker >= jpegAPP0 && marker <= jpegAPP15:
		w.application(marker, start, body)
		return nil
	case marker == jpegCOM, marker >= 0xf0: // drop comments and reserved extensions
		return nil
	case isFrame(marker):
		if len(body) < 6 {
			return w.invalid("its frame has no size")
		}
		w.frames++
		w.Height, w.Width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	case marker == jpegSOS:
		w.scans++
	}
	w.keep(start, w.c.pos)
	return nil
}

// isFrame reports whether a marker is SOF0 to SOF15. Three markers between SOF0 and SOF15 have
// another meaning.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// application keeps an application segment if it affects how the image is displayed.
func (w *jpegWalk) application(marker byte, start int64, body []byte) {
	switch {
	case marker == jpegAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		own := append([]byte{0xff, jpegAPP0, 0, 16}, body[:14]...)
		own[16], own[17] = 0, 0 // drop the thumbnail
		w.put(own)
	case marker == jpegAPP2 && bytes.HasPrefix(body, []byte("ICC_PROFILE\x00")),
		marker == jpegAPP14 && bytes.HasPrefix(body, []byte("Adobe")) && len(body) == 12:
		w.keep(start, w.c.pos)
	case marker == jpegAPP1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) && w.orient == 0:
		if w.orient = orientation(body); w.orient > 1 {
			exif := append([]byte("Exif\x00\x00"), orientationExif(w.orient)...)
			w.put(append([]byte{0xff, jpegAPP1, 0, byte(len(exif) + 2)}, exif...))
		}
	}
}

// entropy keeps the entropy-coded data up to the next marker.
func (w *jpegWalk) entropy() error {
	from := w.c.pos
	for {
		skipped, err := w.toFF()
		if err != nil {
			return err
		}
		if !skipped {
			continue
		}
		next, err := w.c.in.Peek(2)
		if err != nil {
			return err
		}
		if b := next[1]; b == 0 || b >= 0xd0 && b <= 0xd7 {
			err = w.c.skip(2)
		} else if b == 0xff { // skip a fill byte
			err = w.c.skip(1)
		} else {
			w.keep(from, w.c.pos)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// toFF skips to the next 0xff byte. It returns false if the buffered data contains none.
func (w *jpegWalk) toFF() (bool, error) {
	if _, err := w.c.in.Peek(1); err != nil {
		return false, err
	}
	buffered, err := w.c.in.Peek(w.c.in.Buffered())
	if err != nil {
		return false, err
	}
	i := bytes.IndexByte(buffered, 0xff)
	if i < 0 {
		return false, w.c.skip(int64(len(buffered)))
	}
	return true, w.c.skip(int64(i))
}
