package media

import (
	"encoding/binary"
	"io"
	"sort"
)

// These are the limits of a file that consists of boxes (ISO base media file format): the number of
// boxes and their nesting.
const (
	maxBoxes = 100_000
	maxDepth = 12
)

// box is one box. Its header begins at offset at, its content at body, and it ends before end.
type box struct {
	typ           string
	at, body, end int64
}

// boxes walks through a file of boxes and records which bytes to overwrite.
type boxes struct {
	*File
	seen      int
	edits     []edit
	data      []box  // mdat boxes (coded images and sound), in file order
	dataEdits []edit // edits that must lie within one box of data
}

// each calls visit for every box between the offsets from and to.
func (b *boxes) each(from, to int64, visit func(box) error) error {
	for at := from; at < to; {
		if to-at < 8 { // some writers terminate a list with zeros
			if from == 0 {
				b.size = at
			}
			return nil
		}
		head, err := b.readTable(at, min(at+16, to))
		if err != nil {
			return err
		}
		x := box{typ: string(head[4:8]), at: at, body: at + 8}
		n := int64(binary.BigEndian.Uint32(head))
		switch {
		case n == 1 && len(head) == 16:
			n, x.body = int64(binary.BigEndian.Uint64(head[8:])), at+16
		case n == 0 && from != 0:
			return nil
		case n == 0:
			n = to - at
		}
		if b.seen++; n < x.body-at || b.seen > maxBoxes {
			return b.invalid("the box at byte %d has an invalid size", at)
		}
		if x.end = at + n; n > to-at {
			if from == 0 {
				return io.ErrUnexpectedEOF
			}
			return b.invalid("the box %q at byte %d is larger than the box that contains it", x.typ, at)
		}
		if err := visit(x); err != nil {
			return err
		}
		at = x.end
	}
	return nil
}

// zero overwrites the bytes [from, to) with zeros.
func (b *boxes) zero(from, to int64) {
	if from < to && len(b.edits) <= maxParts {
		b.edits = append(b.edits, edit{from: from, to: to})
	}
}

// zeroData overwrites the bytes [from, to), to which a table of the file refers, with zeros.
func (b *boxes) zeroData(from, to int64) {
	if from < to && len(b.dataEdits) <= maxParts {
		b.dataEdits = append(b.dataEdits, edit{from: from, to: to})
	}
}

// free turns a box into an unused box of type "free" and zeroes its content.
func (b *boxes) free(x box) {
	if len(b.edits) <= maxParts {
		b.edits = append(b.edits, edit{from: x.at + 4, to: x.at + 8, own: []byte("free")})
	}
	b.zero(x.body, x.end)
}

// finish applies the recorded edits to the output.
func (b *boxes) finish() error {
	if len(b.edits)+len(b.dataEdits) > maxParts {
		return b.invalid("it has too many parts")
	}
	for _, e := range b.dataEdits {
		i := sort.Search(len(b.data), func(i int) bool { return b.data[i].end >= e.to })
		if i == len(b.data) || b.data[i].body > e.from {
			return b.invalid("a part at byte %d lies outside of its data", e.from)
		}
	}
	b.edits = append(b.edits, b.dataEdits...)
	b.overwrite(b.size, b.edits)
	return nil
}

// uuid returns the extended type of a "uuid" box, or "" if the box is too short.
func (b *boxes) uuid(x box) (string, error) {
	if x.end-x.body < 16 {
		return "", nil
	}
	name, err := b.readTable(x.body, x.body+16)
	return string(name), err
}

// sphericalUUID is the extended type of the box that marks a video as spherical (360°).
const sphericalUUID = "\xff\xcc\x82\x63\xf8\x55\x4a\x93\x88\x14\x58\x7a\x02\x52\x1f\xdd"

// readUint reads a big-endian number of 0, 2, 4 or 8 bytes and returns the bytes after it.
func readUint(b []byte, n int) (v uint64, rest []byte, ok bool) {
	if len(b) < n {
		return 0, nil, false
	}
	for _, c := range b[:n] {
		v = v<<8 | uint64(c)
	}
	return v, b[n:], true
}
