package media

import (
	"encoding/binary"
	"io"
)

// track is a track of an MP4 or QuickTime file.
type track struct {
	*mp4Walk
	handler       string // handler type: "vide", "soun", …
	width, height int
	sizes, chunks box // stsz with the sample sizes, stco or co64 with the chunk offsets
	perChunk      box
	wide          bool // chunk offsets have 8 bytes instead of 4
}

func (t *track) box(x box) error {
	switch x.typ {
	case "tkhd":
		return t.trackHeader(x)
	case "mdhd":
		b, err := t.readTable(x.body, min(x.end, x.body+1))
		if err != nil {
			return err
		}
		t.zeroTimes(x, b)
	case "free", "skip":
		t.free(x)
	case "mdia", "minf", "stbl":
		return t.each(x.body, x.end, t.box)
	case "hdlr":
		b, err := t.readTable(x.body, min(x.end, x.body+12))
		if err != nil {
			return err
		}
		if len(b) == 12 && t.handler == "" { // the first hdlr box belongs to mdia; in QuickTime files minf has another one
			t.handler = string(b[8:])
		}
	case "stsz":
		t.sizes = x
	case "stsc":
		t.perChunk = x
	case "stco", "co64":
		t.chunks, t.wide = x, x.typ == "co64"
	case "udta":
		return t.each(x.body, x.end, t.userData)
	case "meta":
		return t.meta(x)
	case "uuid":
		name, err := t.uuid(x)
		if err != nil || name == sphericalUUID {
			return err
		}
		t.free(x)
	}
	return nil
}

// trackHeader reads the image dimensions.
func (t *track) trackHeader(x box) error {
	b, err := t.readTable(x.body, min(x.end, x.body+96))
	if err != nil || len(b) == 0 {
		return err
	}
	t.zeroTimes(x, b)
	at := 40 // offset of the matrix
	if b[0] == 1 {
		at = 52
	}
	if len(b) < at+44 {
		return nil
	}
	t.width, t.height = int(binary.BigEndian.Uint16(b[at+36:])), int(binary.BigEndian.Uint16(b[at+40:]))
	if binary.BigEndian.Uint32(b[at:]) == 0 { // the image is rotated by 90 or 270 degrees
		t.width, t.height = t.height, t.width
	}
	return nil
}

// done counts the track. It zeroes the samples of tracks that are neither image, sound nor text,
// for example the GPS positions that cameras record.
func (t *track) done() error {
	t.tracks[t.handler]++
	switch t.handler {
	case "vide":
		if t.width > t.Width {
			t.Width, t.Height = t.width, t.height
		}
		return nil
	case "soun", "text", "sbtl", "subt", "subp", "clcp", "tmcd", "hint", "pict", "auxv", "":
		return nil
	}
	return t.zeroSamples()
}

// maxTable is the maximum number of rows in a table of a track that is zeroed.
const maxTable = 1_000_000

// zeroSamples overwrites the samples of the track with zeros, chunk by chunk.
func (t *track) zeroSamples() error {
	offset := int64(4)
	if t.wide {
		offset = 8
	}
	places, err := t.entries(t.chunks, 4, offset)
	if err != nil || places == nil {
		return err
	}
	runs, err := t.entries(t.perChunk, 4, 12)
	if err != nil {
		return err
	}
	sizes, same, err := t.sampleSizes()
	if err != nil {
		return err
	}
	run, each, sample := 0, int64(0), 0
	for i := range int64(len(places)) / offset {
		for run*12 < len(runs) && int64(binary.BigEndian.Uint32(runs[run*12:])) <= i+1 {
			each = int64(binary.BigEndian.Uint32(runs[run*12+4:]))
			run++
		}
		at, _, _ := readUint(places[i*offset:], int(offset))
		length := same * each
		if same == 0 {
			for range each {
				if (sample+1)*4 > len(sizes) {
					break
				}
				length += int64(binary.BigEndian.Uint32(sizes[sample*4:]))
				sample++
			}
		}
		if at > uint64(t.size) {
			return io.ErrUnexpectedEOF
		}
		t.zeroData(int64(at), min(int64(at)+length, t.size))
	}
	return nil
}

// entries reads the rows of a table. The number of rows is stored at offset at of the box, and the
// rows follow. Each row has row bytes.
func (t *track) entries(x box, at, row int64) ([]byte, error) {
	if x.end-x.body < at+4 {
		return nil, nil
	}
	b, err := t.readTable(x.body+at, x.body+at+4)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(b))
	if n > maxTable || x.body+at+4+n*row > x.end {
		return nil, t.invalid("a table of %d rows exceeds its box", n)
	}
	return t.readTable(x.body+at+4, x.body+at+4+n*row)
}

// sampleSizes returns the sizes of the samples, or the one size that all samples have.
func (t *track) sampleSizes() (sizes []byte, same int64, err error) {
	if t.sizes.end-t.sizes.body < 12 {
		return nil, 0, t.invalid("a track does not declare the sizes of its samples")
	}
	b, err := t.readTable(t.sizes.body+4, t.sizes.body+8)
	if err != nil {
		return nil, 0, err
	}
	if same = int64(binary.BigEndian.Uint32(b)); same > 0 {
		return nil, same, nil
	}
	sizes, err = t.entries(t.sizes, 8, 4)
	return sizes, 0, err
}
