package render

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// Types of values in a file of Perl's Storable.
const (
	sxLongScalar = 1 // bytes, preceded by a length of 4 bytes
	sxArray      = 2
	sxHash       = 3
	sxRef        = 4
	sxByte       = 8 // a small integer
	sxNetInt     = 9 // an integer of 4 bytes
	sxScalar     = 10
	sxUTF8       = 23 // characters, unlike sxScalar, which contains bytes
	sxLongUTF8   = 24
)

// appendStorable writes a file in the form of Perl's nstore, which is the same on all machines.
// retrieve reads the file, and thaw reads its content after the first four bytes. A true value is
// the number 1. Fractions, and integers that need more than 32 bits, are written as strings, as
// nstore does: Perl does not distinguish them from numbers.
//
// spec:datafeeds-2006#output-formats
func appendStorable(w *writer) {
	const major, minor, network = 2, 5, 1 // version of 2002, which later versions of Storable read
	w.b = append(append(w.b, "pst0"...), major<<1|network, minor)
	w.b, _ = storableValue(w.b, w.data(), 0, true)
}

func storableValue(b []byte, data []datum, i int, root bool) (out []byte, next int) {
	d := &data[i]
	switch d.kind {
	case kindText:
		return storableText(b, d.text), i + 1
	case kindInt:
		return storableInt(b, d.n), i + 1
	case kindFloat:
		return storableText(b, strconv.FormatFloat(d.real, 'g', -1, 64)), i + 1
	case kindTrue:
		return storableInt(b, 1), i + 1
	}
	if !root { // only a value inside a hash or an array is marked as a scalar
		b = append(b, sxRef)
	}
	if d.kind == kindList {
		b = append(b, sxArray)
	} else {
		b = append(b, sxHash)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(d.n))
	next = i + 1
	for range d.n {
		key := data[next].key
		b, next = storableValue(b, data, next, false)
		if d.kind == kindMap {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(key))), key...)
		}
	}
	return b, next
}

func storableInt(b []byte, n int64) []byte {
	switch {
	case -128 <= n && n <= 127:
		return append(b, sxByte, byte(n+128))
	case math.MinInt32 <= n && n <= math.MaxInt32:
		return binary.BigEndian.AppendUint32(append(b, sxNetInt), uint32(n))
	}
	return storableText(b, strconv.FormatInt(n, 10))
}

func storableText(b []byte, s string) []byte {
	short, long := byte(sxScalar), byte(sxLongScalar)
	if !isASCII(s) {
		short, long = sxUTF8, sxLongUTF8
	}
	if len(s) <= 255 {
		return append(append(b, short, byte(len(s))), s...)
	}
	return append(binary.BigEndian.AppendUint32(append(b, long), uint32(len(s))), s...)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
