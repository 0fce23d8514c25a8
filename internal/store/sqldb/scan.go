package sqldb

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Millis is t as the tables hold it; the zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time scans a time: NULL and 0 are the zero time.
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

// Int scans an int without the detour over text that database/sql takes.
type Int int

func (n *Int) Scan(src any) error {
	v, _ := src.(int64)
	*n = Int(v)
	return nil
}

// ByteString scans bytes that strangers gave us as text; NULL is "". They are kept
// as bytes because text must be UTF-8 in PostgreSQL.
type ByteString string

func (v *ByteString) Scan(src any) error {
	b, _ := src.([]byte)
	*v = ByteString(b)
	return nil
}

// Clean makes text that both databases take: PostgreSQL has no NUL and no broken UTF-8.
func Clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// JSON is v as JSON, in which < and > stand as they are: nobody puts it into a page.
func JSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
