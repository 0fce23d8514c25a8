package media

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// pngKept reports a chunk that draws the picture. Texts, Exif, times and what is not
// known are left out.
func pngKept(typ string) bool {
	switch typ {
	case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI",
		"bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT":
		return true
	}
	return false
}

// png keeps the chunks that draw, up to the end of the picture.
func (f *File) png() error {
	c, orient, data := f.cursor(), 0, false
	if err := c.skip(8); err != nil {
		return err
	}
	f.keep(0, 8)
	for first := true; ; first = false {
		start := c.pos
		head, err := c.read(8)
		if err != nil {
			return err
		}
		n, typ := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if first != (typ == "IHDR") || first && n != 13 || n > 1<<31-1 {
			return f.broken("a chunk at byte %d is out of place", start)
		}
		if n > f.size-c.pos {
			return io.ErrUnexpectedEOF
		}
		body, err := f.pngChunk(c, head[4:], n)
		if err != nil {
			return err
		}
		switch {
		case typ == "IHDR":
			f.Width, f.Height = int(binary.BigEndian.Uint32(body)&0x7fffffff), int(binary.BigEndian.Uint32(body[4:])&0x7fffffff)
		case typ == "IDAT":
			data = true
		case typ == "eXIf" && orient == 0:
			if orient = orientation(body); orient > 1 {
				f.put(pngChunkOf(typ, orientationExif(orient)))
			}
		case typ[0]&0x20 == 0 && !pngKept(typ):
			return f.broken("it needs the chunk %q, which is not known", typ)
		}
		if pngKept(typ) {
			f.keep(start, c.pos)
		}
		if typ == "IEND" {
			break
		}
	}
	if !data || f.Width == 0 || f.Height == 0 {
		return f.broken("there is no picture in it")
	}
	f.Width, f.Height = orientedSize(orient, f.Width, f.Height)
	return nil
}

// pngChunk goes over a chunk and its sum, and returns its beginning.
func (f *File) pngChunk(c *cursor, typ []byte, n int64) (body []byte, err error) {
	sum := crc32.NewIEEE()
	_, _ = sum.Write(typ) // never fails
	if body, err = c.read(int(min(n, 64<<10))); err != nil {
		return nil, err
	}
	_, _ = sum.Write(body)
	rest, err := io.CopyN(sum, c.in, n-int64(len(body)))
	c.pos += rest
	if err != nil {
		return nil, err
	}
	want, err := c.read(4)
	if err == nil && binary.BigEndian.Uint32(want) != sum.Sum32() {
		err = f.broken("the chunk %q that ends at byte %d was damaged on the way", typ, c.pos)
	}
	return body, err
}

func pngChunkOf(typ string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, typ...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
