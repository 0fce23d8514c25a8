package media

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// mp4Walk holds the state of the walk through an MP4 or QuickTime file.
type mp4Walk struct {
	boxes
	hasMovie bool
	tracks   map[string]int // number of tracks; key: handler type
}

// mp4 overwrites location and device metadata in place.
func (f *File) mp4() error {
	w := &mp4Walk{boxes: boxes{File: f}, tracks: map[string]int{}}
	if err := w.each(0, f.size, w.top); err != nil {
		return err
	}
	if !w.hasMovie {
		return f.invalid("it contains no movie")
	}
	if w.tracks["vide"] == 0 && w.tracks["soun"] > 0 && f.Group == Video && f.Type == "video/mp4" {
		f.Kind = Kind{"audio/mp4", ".m4a", Sound, "an MP4 sound", formMP4}
	}
	if f.Group == Sound {
		f.Width, f.Height = 0, 0
	}
	return w.finish()
}

func (w *mp4Walk) top(x box) error {
	switch x.typ {
	case "moov":
		w.hasMovie = true
		return w.each(x.body, x.end, w.inMovie)
	case "meta":
		return w.meta(x)
	case "udta":
		return w.each(x.body, x.end, w.userData)
	case "mdat":
		w.data = append(w.data, x)
		return nil
	case "ftyp", "moof", "mfra", "sidx", "ssix", "styp", "emsg", "pdin", "wide", "pnot":
		return nil
	}
	w.free(x)
	return nil
}

func (w *mp4Walk) inMovie(x box) error {
	switch x.typ {
	case "trak":
		t := &track{mp4Walk: w}
		if err := w.each(x.body, x.end, t.box); err != nil {
			return err
		}
		return t.done()
	case "mvhd":
		return w.movieHead(x)
	case "udta":
		return w.each(x.body, x.end, w.userData)
	case "meta":
		return w.meta(x)
	case "mvex", "iods", "cmov", "rmra", "ctab", "clip", "prfl", "pssh":
		return nil
	}
	w.free(x)
	return nil
}

// zeroTimes removes the times of creation and modification from a box that begins with b: version,
// flags, and both times with 4 bytes each, or 8 in version 1.
func (w *mp4Walk) zeroTimes(x box, b []byte) {
	size := int64(4)
	if len(b) > 0 && b[0] == 1 {
		size = 8
	}
	w.zero(min(x.body+4, x.end), min(x.body+4+2*size, x.end))
}

// movieHead reads the duration and removes the times.
func (w *mp4Walk) movieHead(x box) error {
	b, err := w.readTable(x.body, min(x.end, x.body+32))
	if err != nil {
		return err
	}
	w.zeroTimes(x, b)
	var scale, length float64
	switch {
	case len(b) >= 20 && b[0] == 0:
		scale, length = float64(binary.BigEndian.Uint32(b[12:])), float64(binary.BigEndian.Uint32(b[16:]))
		if length == 1<<32-1 {
			length = 0
		}
	case len(b) >= 32 && b[0] == 1:
		scale, length = float64(binary.BigEndian.Uint32(b[20:])), float64(binary.BigEndian.Uint64(b[24:]))
	}
	if scale > 0 && length/scale < 1e7 {
		w.Duration = length / scale
	}
	return nil
}

// userData keeps fields that describe the work, such as title and author. It removes locations,
// times, serial numbers, device names and images that manufacturers add.
func (w *mp4Walk) userData(x box) error {
	switch x.typ {
	case "meta":
		return w.meta(x)
	case "name", "titl", "auth", "cprt", "albm", "gnre", "perf", "dscp", "chpl", "hnti", "hinf", "ludt", "tagc", "WLOC", "LOOP", "SelO", "AllF", "kind",
		"\xa9nam", "\xa9ART", "\xa9alb", "\xa9art", "\xa9gen", "\xa9wrt", "\xa9too", "\xa9cpy", "\xa9des", "\xa9inf", "\xa9cmt", "\xa9lyr":
		return nil
	}
	w.free(x)
	return nil
}

// meta reads a metadata table in iTunes or QuickTime format.
func (w *mp4Walk) meta(x box) error {
	if x.end-x.body < 8 {
		return nil
	}
	head, err := w.readTable(x.body, x.body+8)
	if err != nil {
		return err
	}
	from := x.body
	if string(head[4:8]) != "hdlr" { // a QuickTime meta box has no version field
		from += 4
	}
	var keys []string
	return w.each(from, x.end, func(x box) (err error) {
		switch x.typ {
		case "keys":
			keys, err = w.fieldNames(x)
			return err
		case "ilst":
			return w.each(x.body, x.end, func(item box) error { return w.field(item, keys) })
		case "hdlr", "mhdr":
		default:
			w.free(x)
		}
		return nil
	})
}

// fieldNames returns the names of QuickTime fields; the first field has number 1. It also
// overwrites the names of removed fields, because a player would read a location of zeros as a place
// off the coast of Africa.
func (w *mp4Walk) fieldNames(x box) (names []string, err error) {
	b, err := w.readTable(min(x.body+8, x.end), x.end)
	if err != nil {
		return nil, err
	}
	for at := x.end - int64(len(b)); len(b) >= 8; {
		n := int64(binary.BigEndian.Uint32(b))
		if n < 8 || n > int64(len(b)) {
			break
		}
		name := string(b[8:n])
		names = append(names, name)
		if !fieldKept(name) && len(w.edits) <= maxParts {
			w.edits = append(w.edits, edit{from: at + 8, to: at + n, own: bytes.Repeat([]byte("-"), len(name))})
		}
		b, at = b[n:], at+n
	}
	return names, nil
}

// field zeroes a field with a location, a time or a device. keys contains QuickTime's field names; keys
// is empty for iTunes tables.
func (w *mp4Walk) field(x box, keys []string) error {
	if i := binary.BigEndian.Uint32([]byte(x.typ)); i >= 1 && int64(i) <= int64(len(keys)) {
		if fieldKept(keys[i-1]) {
			return nil
		}
		return w.each(x.body, x.end, func(data box) error {
			w.zero(min(data.body+8, data.end), data.end) // keep the type and the locale before the value
			return nil
		})
	}
	if !itunesKept(x.typ) {
		w.free(x)
	}
	return nil
}

func fieldKept(key string) bool {
	switch key[strings.LastIndexByte(key, '.')+1:] {
	case "title", "displayname", "author", "artist", "album", "copyright", "description", "information", "comment", "genre", "keywords", "encoder":
		return true
	}
	return false
}

func itunesKept(typ string) bool {
	switch typ {
	case "\xa9xyz", "\xa9mak", "\xa9mod", "\xa9day", "\xa9swr":
		return false
	case "aART", "trkn", "disk", "tmpo", "cpil", "pgap", "covr", "gnre", "desc", "ldes", "cprt", "rtng", "stik", "hdvd",
		"pcst", "catg", "keyw", "purl", "egid", "tvsh", "tven", "tvsn", "tves", "soal", "soar", "sonm", "soaa", "soco", "sosn":
		return true
	}
	return strings.HasPrefix(typ, "\xa9")
}
