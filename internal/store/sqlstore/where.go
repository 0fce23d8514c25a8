package sqlstore

import (
	"cloudburst/internal/fault"
	"strings"
)

// MaxMatch is the length, in bytes, of the longest text that can be searched for.
const MaxMatch = 2000

// limit is what a list query means by its Limit.
func limit(n int) int { return atMost(n, 1000) }

func atMost(n, most int) int {
	if n <= 0 {
		return 100
	}
	return min(n, most)
}

// where gathers the conditions of a list query.
type where struct {
	conds []string
	args  []any
}

// add adds a condition in which each ? is the next of args.
func (w *where) add(cond string, args ...any) {
	var b strings.Builder
	for part := range strings.SplitSeq(cond, "?") {
		b.WriteString(part)
		if len(args) > 0 {
			b.WriteString(w.arg(args[0]))
			args = args[1:]
		}
	}
	w.conds = append(w.conds, b.String())
}

// arg adds an argument and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return placeholder(len(w.args))
}

// like asks for a substring in any of the columns, whatever the case. Both
// databases fold only ASCII by themselves; other letters are looked for as they
// are, in lower and in upper case.
func (w *where) like(match string, columns ...string) error {
	if match == "" {
		return nil
	}
	if len(match) > MaxMatch {
		return fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(match), MaxMatch)
	}
	match = clean(match)
	var conds []string
	for i, m := range []string{match, strings.ToLower(match), strings.ToUpper(match)} {
		if i > 0 && asciiFold(m) == asciiFold(match) {
			continue
		}
		p := w.arg("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(m) + "%")
		for _, c := range columns {
			conds = append(conds, c+` {LIKE} `+p+` ESCAPE '\'`)
		}
	}
	w.conds = append(w.conds, "("+strings.Join(conds, " OR ")+")")
	return nil
}

func asciiFold(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// String is the WHERE clause, or nothing.
func (w *where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}
