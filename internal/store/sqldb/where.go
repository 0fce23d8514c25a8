package sqldb

import (
	"strings"

	"cloudburst/internal/fault"
)

// MaxMatch is the maximum length of a search text, in bytes.
const MaxMatch = 2000

// Limit returns the effective limit of a list query for its field Limit: 100 if n is not positive,
// and at most 1000.
func Limit(n int) int { return LimitTo(n, 1000) }

// LimitTo is like Limit with another maximum than 1000.
func LimitTo(n, limit int) int {
	if n <= 0 {
		return 100
	}
	return min(n, limit)
}

// Where collects the conditions of a list query.
type Where struct {
	Conds []string
	Args  []any
}

// Add adds a condition in which each ? stands for the next of args.
func (w *Where) Add(cond string, args ...any) {
	var b strings.Builder
	for part := range strings.SplitSeq(cond, "?") {
		b.WriteString(part)
		if len(args) > 0 {
			b.WriteString(w.Arg(args[0]))
			args = args[1:]
		}
	}
	w.Conds = append(w.Conds, b.String())
}

// Arg adds an argument and returns its placeholder.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return Placeholder(len(w.Args))
}

// Like searches for a substring in any of the columns, ignoring case. Both databases fold only
// ASCII themselves. For other letters, Like searches for match as given, in lowercase and in
// uppercase.
func (w *Where) Like(match string, columns ...string) error {
	if match == "" {
		return nil
	}
	if len(match) > MaxMatch {
		return fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(match), MaxMatch)
	}
	match = Clean(match)
	var conds []string
	for i, m := range []string{match, strings.ToLower(match), strings.ToUpper(match)} {
		if i > 0 && asciiFold(m) == asciiFold(match) {
			continue
		}
		p := w.Arg("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(m) + "%")
		for _, c := range columns {
			conds = append(conds, c+` {LIKE} `+p+` ESCAPE '\'`)
		}
	}
	w.Conds = append(w.Conds, "("+strings.Join(conds, " OR ")+")")
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

// String returns the WHERE clause, or "" without conditions.
func (w *Where) String() string {
	if len(w.Conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.Conds, " AND ")
}
