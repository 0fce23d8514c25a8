package render

import (
	"math"
	"strconv"
)

// appendPHPSerialize writes what PHP's unserialize reads. There are no objects in it:
// read it with allowed_classes false.
//
// spec:datafeeds-2006#output-formats
func appendPHPSerialize(w *writer) {
	w.b, _ = phpValue(w.b, w.data(), 0)
}

func phpValue(b []byte, data []datum, i int) (out []byte, next int) {
	d := &data[i]
	switch d.kind {
	case isText:
		return phpText(b, d.text), i + 1
	case isInt:
		return append(strconv.AppendInt(append(b, "i:"...), d.n, 10), ';'), i + 1
	case isFloat:
		return append(phpFloat(append(b, "d:"...), d.real), ';'), i + 1
	case isTrue:
		return append(b, "b:1;"...), i + 1
	}
	b = append(strconv.AppendInt(append(b, "a:"...), d.n, 10), ":{"...)
	next = i + 1
	for n := range d.n {
		if d.kind == isList {
			b = append(strconv.AppendInt(append(b, "i:"...), n, 10), ';')
		} else {
			b = phpText(b, data[next].key)
		}
		b, next = phpValue(b, data, next)
	}
	return append(b, '}'), next
}

// phpText writes a text with its number of bytes: nothing in it needs escaping.
func phpText(b []byte, s string) []byte {
	b = strconv.AppendInt(append(b, "s:"...), int64(len(s)), 10)
	return append(append(append(b, `:"`...), s...), `";`...)
}

// phpFloat writes a number as PHP itself does.
func phpFloat(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
