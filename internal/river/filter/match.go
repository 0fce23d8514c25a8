package filter

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/internal/fault"
	"cloudburst/internal/text"
)

// PatternText is the number of bytes at the start of a text that a regular expression reads.
// Contains and Word search the whole text.
const PatternText = 2000

// Item contains the fields of an item that rules compare.
type Item struct {
	Title, Text, Link   string
	Authors, Categories []string
}

// Subject is an item that is prepared for comparison with several rules.
type Subject struct {
	item   Item
	folded map[string][]string
}

// NewSubject prepares an item for comparison with several rules.
func NewSubject(it Item) *Subject { return &Subject{item: it, folded: map[string][]string{}} }

// raw returns the texts of a field, unchanged.
func (s *Subject) raw(field string) []string {
	switch field {
	case Title:
		return []string{s.item.Title}
	case Text:
		return []string{s.item.Text}
	case Author:
		return s.item.Authors
	case Category:
		return s.item.Categories
	case Link:
		return []string{s.item.Link}
	}
	return []string{s.item.Title, s.item.Text}
}

// fold returns the texts of a field in lowercase and with single spaces.
func (s *Subject) fold(field string) []string {
	list, ok := s.folded[field]
	if !ok {
		for _, text := range s.raw(field) {
			list = append(list, foldText(text))
		}
		s.folded[field] = list
	}
	return list
}

func foldText(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// Compiled is a rule that is ready to match.
type Compiled struct {
	conditions []compiled
}

type compiled struct {
	Condition
	values  []string
	pattern *regexp.Regexp
	size    int // number of instructions of pattern
}

// Compile prepares a rule for matching. Rule.Check must have accepted the rule.
func Compile(r *Rule) (*Compiled, error) {
	c := &Compiled{}
	for _, cond := range r.Conditions {
		one := compiled{Condition: cond}
		if cond.Op == Regexp {
			if len(cond.Values) != 1 {
				return nil, fault.New(fault.Invalid, "A condition has one regular expression.")
			}
			var err error
			if one.pattern, one.size, err = compilePattern(cond.Values[0]); err != nil {
				return nil, err
			}
		} else {
			for _, v := range cond.Values {
				one.values = append(one.values, foldText(v))
			}
		}
		c.conditions = append(c.conditions, one)
	}
	return c, nil
}

// Budget limits the work of regular expressions for many items. Each match costs instructions ×
// bytes of text, which is the upper limit of its steps. The zero Budget allows no match.
type Budget struct{ Left int64 }

// CheckBudget is the budget for the new items of one check of a feed. It lasts a few seconds at
// most.
const CheckBudget = 300_000_000

// Match reports whether an item matches all conditions. After the budget is used up, Match
// returns false for a rule with a regular expression. A nil budget means no limit.
func (c *Compiled) Match(s *Subject, b *Budget) bool {
	for i := range c.conditions {
		found, ok := c.conditions[i].find(s, b)
		if !ok || found == c.conditions[i].Not {
			return false
		}
	}
	return len(c.conditions) > 0
}

// find reports whether one of the values occurs. ok is false if the budget is used up.
func (c *compiled) find(s *Subject, b *Budget) (found, ok bool) {
	if c.pattern != nil {
		for _, raw := range s.raw(c.Field) {
			part := text.Head(raw, PatternText)
			if b != nil {
				if b.Left -= int64(len(part)+1) * int64(c.size); b.Left < 0 {
					return false, false
				}
			}
			if c.pattern.MatchString(part) {
				return true, true
			}
		}
		return false, true
	}
	for _, text := range s.fold(c.Field) {
		for _, v := range c.values {
			if c.Op == Word && hasWord(text, v) || c.Op != Word && strings.Contains(text, v) {
				return true, true
			}
		}
	}
	return false, true
}

// hasWord reports whether word occurs in text as a whole word, without a letter or digit next to
// it.
func hasWord(text, word string) bool {
	for from := 0; word != ""; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !isWord(before)) && (end == len(text) || !isWord(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
	return false
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// compilePattern compiles a regular expression that ignores case, and returns the number of its
// instructions. The time of a match is at most proportional to instructions × bytes of text.
func compilePattern(text string) (*regexp.Regexp, int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, 0, invalid("values", "The regular expression is invalid: %s.", patternError(err))
	}
	if weight(parsed, MaxProgram) > MaxProgram {
		return nil, 0, tooLargeError()
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, tooLargeError()
	}
	size := len(program.Inst)
	if size > MaxProgram {
		return nil, 0, tooLargeError()
	}
	pattern, err := regexp.Compile("(?i:" + text + ")")
	if err != nil {
		return nil, 0, invalid("values", "The regular expression is invalid: %s.", patternError(err))
	}
	if pattern.MatchString("") && pattern.MatchString("\u2603zq9") {
		return nil, 0, invalid("values", "The regular expression matches every item: it also matches an empty text.")
	}
	return pattern, size, nil
}

func tooLargeError() error {
	return invalid("values", "The regular expression is too large: it compiles to more than %d instructions. Use fewer or smaller repetitions.", MaxProgram)
}

// weight estimates the number of instructions before repetitions are expanded, so that a pattern
// that is too large is rejected before it is compiled.
func weight(re *syntax.Regexp, limit int) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		if n += weight(sub, limit); n > limit {
			return limit + 1
		}
	}
	if re.Op == syntax.OpRepeat {
		if n *= max(re.Min, re.Max, 1); n > limit {
			return limit + 1
		}
	}
	return n
}

// patternError returns the reason why a pattern is invalid, without the prefix that package
// regexp adds.
func patternError(err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return "it cannot be read"
	}
	if e.Expr == "" {
		return e.Code.String()
	}
	return e.Code.String() + " in “" + string([]rune(e.Expr)[:min(len([]rune(e.Expr)), 60)]) + "”"
}
