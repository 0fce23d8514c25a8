package sqlstore

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// ms is t as the tables hold it; the zero time is 0.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// millis scans a time: NULL and 0 are the zero time.
type millis time.Time

func (m *millis) Scan(src any) error {
	v, _ := src.(int64)
	if v == 0 {
		*m = millis{}
		return nil
	}
	*m = millis(time.UnixMilli(v).UTC())
	return nil
}

// number scans an int without the detour over text that database/sql takes.
type number int

func (n *number) Scan(src any) error {
	v, _ := src.(int64)
	*n = number(v)
	return nil
}

// verbatim scans bytes that strangers gave us as text; NULL is "". They are kept
// as bytes because text must be UTF-8 in PostgreSQL.
type verbatim string

func (v *verbatim) Scan(src any) error {
	b, _ := src.([]byte)
	*v = verbatim(b)
	return nil
}

// clean makes text that both databases take: PostgreSQL has no NUL and no broken UTF-8.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// toJSON is v as JSON, in which < and > stand as they are: nobody puts it into a page.
func toJSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
