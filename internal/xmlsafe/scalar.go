package xmlsafe

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseInt reads a decimal number of 64 bits.
func ParseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// ParseBool reads 1, 0, and true, false in any case.
func ParseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}

// ParseDouble reads a decimal number with or without exponent, but neither
// infinities nor hexadecimal.
func ParseDouble(s string) (float64, bool) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// ParseBase64 leaves out white space and forgives missing padding.
func ParseBase64(s string) ([]byte, bool) {
	s = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, s)
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil || len(s)-len(strings.TrimRight(s, "=")) > 2 {
		return nil, false
	}
	return b, true
}

// blanks are the white space of XML, and the no-break space: documents that are copied from
// a web page are often indented with it.
const whiteSpace = " \t\r\n\u00a0"

// Trim cuts off white space, no-break spaces included.
//
// spec:cloudburst#no-break-space
func Trim(s string) string { return strings.Trim(s, whiteSpace) }

// ParseTime reads the basic and the extended form of ISO 8601, with or
// without seconds' fractions and zone. Without a zone it is UTC: the
// specifications leave that to each server's documentation.
// Fractions are dropped as they could not be written back.
func ParseTime(s string) (time.Time, bool) {
	date, clock, ok := strings.Cut(s, "T")
	if !ok {
		date, clock, ok = strings.Cut(s, " ")
	}
	if !ok {
		return time.Time{}, false
	}
	zone := "Z"
	if i := strings.IndexAny(clock, "Z+-"); i >= 0 {
		clock, zone = clock[:i], clock[i:]
	}
	// A comma before the fraction is ISO 8601's other spelling.
	clock, fraction, dotted := strings.Cut(strings.Replace(clock, ",", ".", 1), ".")
	if dotted && (fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return time.Time{}, false
	}
	for _, layout := range []string{
		"20060102T15:04:05Z0700", "20060102T15:04:05Z07:00",
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07:00",
		"20060102T150405Z0700", "20060102T150405Z07:00",
	} {
		t, err := time.Parse(layout, date+"T"+clock+zone)
		if err != nil {
			continue
		}
		t = t.UTC()
		return t, t.Year() >= 0 && t.Year() <= 9999
	}
	return time.Time{}, false
}

// AsString reads a text: a string, a number in its decimal form, or base64
// that is UTF-8.
func AsString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case []byte:
		return string(v), utf8.Valid(v)
	}
	return "", false
}

// AsInt reads a whole number: also one written as a string or, without a
// fraction, as a double.
func AsInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		return ParseInt(Trim(v))
	case float64:
		// Beyond 2^53 a float64 no longer tells neighbours apart.
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, false
		}
		return int64(v), true
	}
	return 0, false
}

// AsBool reads a boolean: also 0 or 1 as a number, and the four words of the
// wire as a string.
func AsBool(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case int64:
		return v == 1, v == 0 || v == 1
	case string:
		return ParseBool(Trim(v))
	}
	return false, false
}
