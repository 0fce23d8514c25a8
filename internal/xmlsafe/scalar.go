package xmlsafe

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseInt parses a decimal 64-bit integer.
func ParseInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// ParseBool parses "1" and "0", and "true" and "false" in any case.
func ParseBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}

// ParseDouble parses a decimal number with an optional exponent. It rejects infinities and
// hexadecimal numbers.
func ParseDouble(s string) (float64, bool) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// ParseBase64 decodes base64. It ignores white space and accepts missing padding.
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

// whiteSpace is XML white space and the no-break space, which often indents documents that were
// copied from a web page.
const whiteSpace = " \t\r\n\u00a0"

// Trim removes surrounding white space, including no-break spaces.
//
// spec:cloudburst#no-break-space
func Trim(s string) string { return strings.Trim(s, whiteSpace) }

// ParseTime parses the basic and the extended form of ISO 8601, with optional fractions of seconds
// and zone. The default zone is UTC; the specifications leave this default to each server's
// documentation. ParseTime drops fractions, because they could not be written back.
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
	// ISO 8601 also allows a comma before the fraction.
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

// AsString converts a string, an integer, or base64 data that is UTF-8 to a string.
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

// AsInt converts an integer, a string with an integer, or a double without a fraction to an
// integer.
func AsInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case string:
		return ParseInt(Trim(v))
	case float64:
		// Above 2^53, float64 does not represent all integers.
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, false
		}
		return int64(v), true
	}
	return 0, false
}

// AsBool converts a boolean, the integer 0 or 1, or a string that ParseBool accepts to a boolean.
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
