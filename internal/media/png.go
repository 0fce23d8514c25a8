package media

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// pngKept reports whether a chunk affects how the image is displayed. Text, Exif, time and unknown
// chunks are removed.
func pngKept(typ string) bool {
	switch typ {
	case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI",
		"bKGD", "hIST", "pHYs", "sPLT", "acTL", "fcTL", "fdAT":
		return true
	}
	return false
}

// png keeps the chunks that affect the display, up to the end of the image.
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
			return f.invalid("the chunk at byte %d is out of order", start)
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
			return f.invalid("it needs the unknown chunk %q", typ)
		}
		if pngKept(typ) {
			f.keep(start, c.pos)
		}
		if typ == "IEND" {
			break
		}
	}
	if !data || f.Width == 0 || f.Height == 0 {
		return f.invalid("it contains no image")
	}
	f.Width, f.Height = orientedSize(orient, f.Width, f.Height)
	return nil
}

// pngChunk reads a chunk, verifies its checksum and returns at most the first 64 KiB of its body.
func (f *File) pngChunk(c *cursor, typ []byte, n int64) (body []byte, err error) {
	sum := crc32.NewIEEE()
	_, _ = sum.Write(typ) // a write to a hash never fails
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
		err = f.invalid("the chunk %q that ends at byte %d is damaged", typ, c.pos)
	}
	return body, err
}

func pngChunkOf(typ string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, typ...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}
