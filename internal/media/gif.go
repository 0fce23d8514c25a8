package media

import (
	"encoding/binary"
	"errors"
	"io"
)

// gif keeps the frames, their timing and the loop count. It removes comments, XMP, other
// application blocks and data after the end.
func (f *File) gif() error {
	c := f.cursor()
	head, err := c.read(13)
	if err != nil {
		return err
	}
	f.Width, f.Height = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	if err := c.skip(colourTableSize(head[10])); err != nil {
		return err
	}
	f.keep(0, c.pos)
	frames := 0
	for {
		start := c.pos
		b, err := c.byte()
		switch {
		case errors.Is(err, io.EOF) && frames > 0: // many files lack the trailer
			f.put([]byte{0x3b})
			return f.finishGIF(frames)
		case err != nil:
			return err
		}
		switch b {
		case 0x3b:
			f.keep(start, c.pos)
			return f.finishGIF(frames)
		case 0x2c:
			frames++
			err = f.gifFrame(c, start)
		case 0x21:
			err = f.gifExtension(c, start)
		default:
			return f.invalid("no block begins at byte %d", start)
		}
		if err != nil {
			return err
		}
	}
}

func (f *File) finishGIF(frames int) error {
	if frames == 0 || f.Width == 0 || f.Height == 0 {
		return f.invalid("it contains no image")
	}
	return nil
}

// colourTableSize returns the size in bytes of the colour table that a flag byte declares.
func colourTableSize(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func (f *File) gifFrame(c *cursor, start int64) error {
	head, err := c.read(9)
	if err == nil {
		err = c.skip(colourTableSize(head[8]) + 1) // the colour table and the LZW code size
	}
	if err == nil {
		err = skipSubBlocks(c)
	}
	if err == nil {
		f.keep(start, c.pos)
	}
	return err
}

func (f *File) gifExtension(c *cursor, start int64) error {
	label, err := c.byte()
	if err != nil {
		return err
	}
	keep := label == 0xf9 // the graphic control extension: timing and transparency
	if label == 0xff {
		size, err := c.byte()
		if err != nil {
			return err
		}
		name, err := c.read(int(size))
		if err != nil {
			return err
		}
		switch string(name) {
		case "NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012":
			keep = true
		}
	}
	if err := skipSubBlocks(c); err != nil {
		return err
	}
	if keep {
		f.keep(start, c.pos)
	}
	return nil
}

// skipSubBlocks skips sub-blocks up to and including the empty sub-block.
func skipSubBlocks(c *cursor) error {
	for {
		n, err := c.byte()
		if err != nil || n == 0 {
			return err
		}
		if err := c.skip(int64(n)); err != nil {
			return err
		}
	}
}
