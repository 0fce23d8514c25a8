package media

import "bytes"

// heifWalk holds the state of the walk through a HEIC or AVIF image.
type heifWalk struct {
	mp4Walk
	private  map[uint64]bool // items with Exif, XMP and similar metadata
	hasImage bool
	idat     box
	iloc     []byte
}

// heif overwrites the items that contain Exif, XMP and similar metadata with zeros in place. Image
// data and orientation are stored in other items.
func (f *File) heif() error {
	w := &heifWalk{mp4Walk: mp4Walk{boxes: boxes{File: f}, tracks: map[string]int{}}, private: map[uint64]bool{}}
	err := w.each(0, f.size, func(x box) error {
		switch x.typ {
		case "meta":
			return w.items(x)
		case "moov", "mdat":
			return w.top(x)
		case "ftyp", "pdin", "styp", "sidx", "moof", "mfra", "etyp":
			return nil
		}
		w.free(x) // remove all other boxes, such as the videos and tables that phones append
		return nil
	})
	if err != nil {
		return err
	}
	if f.Duration = 0; !w.hasImage && !w.hasMovie {
		return f.invalid("it contains no image")
	}
	return w.finish()
}

func (w *heifWalk) items(x box) error {
	if x.end-x.body < 4 {
		return w.invalid("its list of items is empty")
	}
	turn := false
	err := w.each(x.body+4, x.end, func(x box) error {
		switch x.typ {
		case "iinf":
			return w.itemInfo(x)
		case "iloc":
			b, err := w.readTable(x.body, x.end)
			w.iloc = b
			return err
		case "idat":
			w.idat = x
		case "iprp":
			return w.each(x.body, x.end, func(x box) error {
				if x.typ != "ipco" {
					return nil
				}
				return w.each(x.body, x.end, func(x box) error { return w.property(x, &turn) })
			})
		case "hdlr", "pitm", "iref", "dinf", "ipro", "grpl":
		default:
			w.free(x)
		}
		return nil
	})
	if turn {
		w.Width, w.Height = w.Height, w.Width
	}
	if err != nil {
		return err
	}
	return w.zeroItems()
}

// property reads the dimensions of the largest image in the file. It sets turn if the image is
// rotated by a right angle.
func (w *heifWalk) property(x box, turn *bool) error {
	b, err := w.readTable(x.body, min(x.end, x.body+12))
	if err != nil {
		return err
	}
	switch {
	case x.typ == "ispe" && len(b) == 12:
		width, _, _ := readUint(b[4:], 4)
		height, _, _ := readUint(b[8:], 4)
		if w.hasImage = true; width > uint64(w.Width) && width < 1<<31 && height < 1<<31 {
			w.Width, w.Height = int(width), int(height)
		}
	case x.typ == "irot" && len(b) > 0:
		*turn = *turn || b[0]&1 == 1
	case x.typ == "uuid":
		w.free(x)
	}
	return nil
}

// itemInfo reads the list of items and records the items that contain metadata.
func (w *heifWalk) itemInfo(x box) error {
	head, err := w.readTable(x.body, min(x.end, x.body+4))
	if err != nil || len(head) < 4 {
		return w.invalid("its list of items is empty")
	}
	from := x.body + 6
	if head[0] != 0 {
		from = x.body + 8
	}
	if from > x.end {
		return w.invalid("its list of items is empty")
	}
	return w.each(from, x.end, func(x box) error {
		b, err := w.readTable(x.body, min(x.end, x.body+12))
		if err != nil {
			return err
		}
		if x.typ != "infe" || len(b) < 4 || b[0] < 2 || b[0] > 3 {
			return w.invalid("its list of items is not that of an image")
		}
		width := 2
		if b[0] == 3 {
			width = 4
		}
		id, rest, ok := readUint(b[4:], width)
		if !ok || len(rest) < 6 {
			return w.invalid("its list of items is incomplete")
		}
		switch typ := rest[2:6]; {
		case bytes.Equal(typ, []byte("Exif")), bytes.Equal(typ, []byte("mime")), bytes.Equal(typ, []byte("uri ")), bytes.Equal(typ, []byte("rdf ")):
			w.private[id] = true
		}
		return nil
	})
}

// zeroItems overwrites the private items with zeros, at the locations that iloc contains.
func (w *heifWalk) zeroItems() error {
	if len(w.private) == 0 {
		return nil
	}
	b := w.iloc
	if len(b) < 8 || b[0] > 2 {
		return w.invalid("it does not contain the locations of its items")
	}
	version := b[0]
	offsetSize, lengthSize, baseSize, indexSize := int(b[4]>>4), int(b[4]&15), int(b[5]>>4), int(b[5]&15)
	idSize := 2
	if version == 0 {
		indexSize = 0
	}
	if version == 2 {
		idSize = 4
	}
	n, b, ok := readUint(b[6:], idSize)
	read := func(size int) (v uint64) {
		if ok {
			v, b, ok = readUint(b, size)
		}
		return v
	}
	found := 0
	for ; n > 0 && ok; n-- {
		id, method := read(idSize), uint64(0)
		if version > 0 {
			method = read(2) & 15
		}
		elsewhere, base, extents := read(2), read(baseSize), read(2)
		if w.private[id] {
			found++
		}
		for ; extents > 0 && ok; extents-- {
			read(indexSize)
			offset, length := read(offsetSize), read(lengthSize)
			if !ok || !w.private[id] {
				continue
			}
			if err := w.zeroExtent(method, elsewhere, base, offset, length); err != nil {
				return err
			}
		}
	}
	if !ok || found < len(w.private) {
		return w.invalid("it does not contain the locations of all its items")
	}
	return nil
}

// zeroExtent overwrites one extent of an item with zeros.
func (w *heifWalk) zeroExtent(method, elsewhere, base, offset, length uint64) error {
	const limit = 1 << 60
	if base > limit || offset > limit || length > limit {
		return w.invalid("the location of an item is invalid")
	}
	from, end := int64(base+offset), w.size
	if method == 1 {
		from, end = from+w.idat.body, w.idat.end
	}
	to := from + int64(length)
	if length == 0 {
		to = end
	}
	if method > 1 || elsewhere != 0 || from > to || to > end || from == 0 {
		return w.invalid("the location of an item is not supported")
	}
	if method == 1 {
		w.zero(from, to)
	} else {
		w.zeroData(from, to)
	}
	return nil
}
