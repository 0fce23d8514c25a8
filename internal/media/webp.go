package media

import (
	"cmp"
	"encoding/binary"
	"io"
)

// These are flags of a VP8X chunk.
const webpExif, webpXMP = 0x08, 0x04

// webp keeps the chunks that affect the display and rewrites the file header.
func (f *File) webp() error {
	head, err := f.readTable(0, 12)
	if err != nil {
		return err
	}
	end := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
	if end > f.size+1 { // the last padding byte may be missing
		return io.ErrUnexpectedEOF
	}
	end = min(end, f.size)
	f.put(nil) // reserves the file header, which is written at the end
	w := webpWalk{File: f}
	if err := w.chunks(12, end, w.chunk); err != nil {
		return err
	}
	if w.frames == 0 || f.Width == 0 || f.Height == 0 {
		return f.invalid("it contains no image")
	}
	if w.extended != nil {
		w.extended[8] &^= webpExif | webpXMP
	}
	if w.orient > 1 && w.extended != nil {
		w.extended[8] |= webpExif
		exif := orientationExif(w.orient)
		f.put(append(binary.LittleEndian.AppendUint32([]byte("EXIF"), uint32(len(exif))), exif...))
		f.Width, f.Height = orientedSize(w.orient, f.Width, f.Height)
	}
	f.n += 12
	f.parts[0].own = append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(f.n-8)), "WEBP"...)
	return nil
}

type webpWalk struct {
	*File
	extended []byte // the VP8X chunk, whose flags are updated
	frames   int
	orient   int
}

// chunks calls each for every chunk, including its padding.
func (w *webpWalk) chunks(from, end int64, each func(typ string, at, body, next int64) error) error {
	for at := from; at < end; {
		head, err := w.readTable(at, min(at+8, w.size))
		if err != nil {
			return err
		}
		if len(head) < 8 {
			return io.ErrUnexpectedEOF
		}
		next := at + 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		if next > end {
			return io.ErrUnexpectedEOF
		}
		padded := min(next+(next-at)&1, end)
		if err := each(string(head[:4]), at, at+8, padded); err != nil {
			return err
		}
		if (next-at)&1 == 1 && next+1 > end {
			w.put([]byte{0})
		}
		at = next + (next-at)&1
	}
	return nil
}

func (w *webpWalk) chunk(typ string, at, body, next int64) error {
	switch typ {
	case "VP8X":
		return w.header(at, body, next)
	case "VP8 ", "VP8L":
		w.frames++
		if w.extended == nil {
			if err := w.frame(typ, body, next); err != nil {
				return err
			}
		}
	case "ANMF":
		w.frames++
		err := w.chunks(body+16, next, func(typ string, _, _, _ int64) error {
			if typ != "VP8 " && typ != "VP8L" && typ != "ALPH" {
				return w.invalid("a frame contains %q", typ)
			}
			return nil
		})
		if err != nil {
			return err
		}
	case "EXIF":
		exif, err := w.readTable(body, min(next, body+64<<10))
		if err != nil {
			return err
		}
		w.orient = cmp.Or(w.orient, orientation(exif))
		return nil
	case "ALPH", "ANIM", "ICCP":
	default:
		return nil
	}
	w.keep(at, next)
	return nil
}

// header reads the VP8X chunk; its flags declare which chunks follow.
func (w *webpWalk) header(at, body, next int64) error {
	b, err := w.readTable(at, next)
	if err != nil {
		return err
	}
	if next-body < 10 || w.extended != nil || w.frames > 0 {
		return w.invalid("its header is out of order")
	}
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	w.Width, w.Height = u24(b[12:])+1, u24(b[15:])+1
	w.extended = b
	w.put(b)
	return nil
}

// frame reads the dimensions of an image without VP8X chunk.
func (w *webpWalk) frame(typ string, body, next int64) error {
	b, err := w.readTable(body, min(next, body+10))
	if err != nil {
		return err
	}
	switch {
	case typ == "VP8 " && len(b) == 10 && string(b[3:6]) == "\x9d\x01\x2a":
		w.Width, w.Height = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	case typ == "VP8L" && len(b) >= 5 && b[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(b[1:])
		w.Width, w.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	default:
		return w.invalid("its frame has no size")
	}
	return nil
}
