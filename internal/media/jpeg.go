package media

import (
	"bytes"
	"encoding/binary"
)

// Markers of JPEG.
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

// jpegWalk is where the walk through a JPEG picture is.
type jpegWalk struct {
	*File
	c      *cursor
	orient int
	frames int
	scans  int
}

// jpeg keeps what draws the picture up to its first end. Further pictures behind that,
// as phones append them, have Exif of their own.
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
		return f.broken("there is no picture in it")
	}
	f.Width, f.Height = orientedSize(w.orient, f.Width, f.Height)
	return nil
}

// marker reads the next one, over fill bytes.
func (w *jpegWalk) marker() (byte, error) {
	b, err := w.c.byte()
	if err != nil {
		return 0, err
	}
	if b != 0xff {
		return 0, w.broken("byte %d does not begin a segment", w.c.pos-1)
	}
	for b == 0xff {
		if b, err = w.c.byte(); err != nil {
			return 0, err
		}
	}
	return b, nil
}

// segment reads one with a length, and keeps what is needed of it.
func (w *jpegWalk) segment(marker byte) error {
	start := w.c.pos - 2
	if marker < 0xc0 || marker >= 0xd0 && marker <= jpegSOI {
		return w.broken("the marker %#x stands at byte %d", marker, start)
	}
	n, err := w.c.u16()
	if err != nil {
		return err
	}
	if n < 2 {
		return w.broken("a segment at byte %d has no length", start)
	}
	body, err := w.c.read(n - 2)
	if err != nil {
		return err
	}
	switch {
	case marker >= jpegAPP0 && marker <= jpegAPP15:
		w.application(marker, start, body)
		return nil
	case marker == jpegCOM, marker >= 0xf0: // comments, and what only extensions use
		return nil
	case isFrame(marker):
		if len(body) < 6 {
			return w.broken("its frame has no size")
		}
		w.frames++
		w.Height, w.Width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	case marker == jpegSOS:
		w.scans++
	}
	w.keep(start, w.c.pos)
	return nil
}

// isFrame reports SOF0 to SOF15, between which other tables have their markers.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// application keeps what changes how the picture looks.
func (w *jpegWalk) application(marker byte, start int64, body []byte) {
	switch {
	case marker == jpegAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		own := append([]byte{0xff, jpegAPP0, 0, 16}, body[:14]...)
		own[16], own[17] = 0, 0 // a thumbnail goes
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

// entropy keeps the coded picture up to the marker behind it.
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
		} else if b == 0xff { // a fill byte
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

// toFF goes on to the next 0xff, at which it stays; false: there is none in what is
// at hand.
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
