package shell

import (
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/event"
)

// FormatCursor writes a cursor for a URL. ParseCursor is the inverse; it reads "" as the zero
// cursor.
func FormatCursor(c event.Cursor) string {
	return strconv.FormatInt(c.At, 10) + "." + strconv.FormatInt(c.Node, 10) + "." + strconv.FormatInt(c.Seq, 10)
}

func ParseCursor(s string) (c event.Cursor, ok bool) {
	if s == "" {
		return c, true
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return c, false
	}
	for i, p := range []*int64{&c.At, &c.Node, &c.Seq} {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return event.Cursor{}, false
		}
		*p = n
	}
	return c, true
}

// ReadPage reads one page of at most rows rows, newest first, and reports whether more exist on
// each side. read returns rows before or after the cursor that is not zero: newest first before it,
// oldest first after it.
func ReadPage[T any](rows int, before, after event.Cursor, read func(before, after event.Cursor, limit int) ([]T, error)) (list []T, older, newer bool, err error) {
	zero := event.Cursor{}
	if after != zero {
		if list, err = read(zero, after, rows+1); err != nil {
			return nil, false, false, err
		}
		if newer = len(list) > rows; newer {
			list = list[:rows]
		}
		slices.Reverse(list)
		if len(list) == rows || newer {
			return list, true, newer, nil
		}
		// The newer rows do not fill a page, so the newest page is shown.
		before = zero
	}
	if list, err = read(before, zero, rows+1); err != nil {
		return nil, false, false, err
	}
	if older = len(list) > rows; older {
		list = list[:rows]
	}
	return list, older, before != zero, nil
}
