package render

import (
	"bytes"
	"math"
	"strconv"
)

// appendPHPSerialize writes the format of PHP's unserialize. It contains no objects: read it
// with allowed_classes set to false.
//
// spec:datafeeds-2006#output-formats
func appendPHPSerialize(w *writer) {
	w.b, _ = phpValue(w.b, w.data(), 0)
}

func phpValue(b []byte, data []datum, i int) (out []byte, next int) {
	d := &data[i]
	switch d.kind {
	case kindText:
		return phpText(b, d.text), i + 1
	case kindInt:
		return append(strconv.AppendInt(append(b, "i:"...), d.n, 10), ';'), i + 1
	case kindFloat:
		return append(phpFloat(append(b, "d:"...), d.real), ';'), i + 1
	case kindTrue:
		return append(b, "b:1;"...), i + 1
	}
	b = append(strconv.AppendInt(append(b, "a:"...), d.n, 10), ":{"...)
	next = i + 1
	for n := range d.n {
		if d.kind == kindList {
			b = append(strconv.AppendInt(append(b, "i:"...), n, 10), ';')
		} else {
			b = phpText(b, data[next].key)
		}
		b, next = phpValue(b, data, next)
	}
	return append(b, '}'), next
}

// phpText writes a string with its length in bytes. Therefore the string needs no escaping.
func phpText(b []byte, s string) []byte {
	b = strconv.AppendInt(append(b, "s:"...), int64(len(s)), 10)
	return append(append(append(b, `:"`...), s...), `";`...)
}

// phpFloat writes a number in the form that PHP itself writes: 1, 0.25, 1.0E+25.
func phpFloat(b []byte, x float64) []byte {
	const minimum, limit = 1e-4, 1e17
	if size := math.Abs(x); x == 0 || minimum <= size && size < limit {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	var buf [32]byte
	mantissa, exponent, _ := bytes.Cut(strconv.AppendFloat(buf[:0], x, 'e', -1, 64), []byte("e"))
	b = append(b, mantissa...)
	if bytes.IndexByte(mantissa, '.') < 0 {
		b = append(b, ".0"...)
	}
	b = append(b, 'E', exponent[0])
	return append(b, bytes.TrimLeft(exponent[1:], "0")...)
}
