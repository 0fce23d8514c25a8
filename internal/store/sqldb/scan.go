package sqldb

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Millis returns t as stored in the tables; the zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time scans a time: NULL and 0 become the zero time.
type Time time.Time

func (m *Time) Scan(src any) error {
	v, _ := src.(int64)
	if v == 0 {
		*m = Time{}
		return nil
	}
	*m = Time(time.UnixMilli(v).UTC())
	return nil
}

// Int scans an int without the conversion to text in database/sql.
type Int int

func (n *Int) Scan(src any) error {
	v, _ := src.(int64)
	*n = Int(v)
	return nil
}

// ByteString scans bytes from external sources as text; NULL becomes "". The columns hold bytes
// because text must be valid UTF-8 in PostgreSQL.
type ByteString string

func (v *ByteString) Scan(src any) error {
	b, _ := src.([]byte)
	*v = ByteString(b)
	return nil
}

// Clean returns text that both databases accept: PostgreSQL rejects NUL and invalid UTF-8.
func Clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// JSON encodes v without escaping < and >, because the result is never part of a page.
func JSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
