// Package filter decides what a user's rules do with the items of their feeds: hide, mark as
// read, star or forward. The package accesses neither the store nor the clock. [Rule.Check]
// validates a rule, [Compile] prepares the rule, and [Combine] combines the rules that match an
// item.
package filter

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
)

// Limits for the rules of one user.
const (
	MaxRules      = 200
	MaxConditions = 5   // maximum number of conditions in a rule
	MaxValues     = 50  // maximum number of values in a condition
	MaxValue      = 200 // maximum number of characters in a value
	MaxPattern    = 500 // maximum number of characters in a regular expression
	MaxProgram    = 200 // maximum number of instructions in a compiled regular expression
	MaxName       = 100 // maximum number of characters in the name of a rule

	MaxAllValues   = 1000 // maximum number of values in all rules of a user
	MaxAllPrograms = 600  // maximum number of instructions in all regular expressions of a user
)

// Fields of an item that a condition can compare.
const (
	Any      = "any" // the title or the text
	Title    = "title"
	Text     = "text"
	Author   = "author"
	Category = "category" // a category that the feed gives the item
	Link     = "link"
)

// Fields lists the fields.
func Fields() []string { return []string{Any, Title, Text, Author, Category, Link} }

// Ways to compare a field with the values of a condition. All three ignore case.
const (
	Contains = "contains"
	Word     = "word"   // a value occurs as a whole word
	Regexp   = "regexp" // the condition has one value, a regular expression in RE2 syntax
)

// Ops lists the ways to compare.
func Ops() []string { return []string{Contains, Word, Regexp} }

// Condition compares a field of an item with a list of values. The condition is true if at least
// one value occurs in the field.
type Condition struct {
	Field  string   `json:"field"`
	Op     string   `json:"op"`
	Not    bool     `json:"not,omitempty"` // inverts the condition: none of the values may occur
	Values []string `json:"values"`
}

// Actions contains what a rule does with each item that matches.
type Actions struct {
	Hide    bool  `json:"hide,omitempty"` // the item is hidden everywhere and counts as read
	Read    bool  `json:"read,omitempty"`
	Star    bool  `json:"star,omitempty"`
	Forward int64 `json:"forward,string,omitempty"` // ID of the forwarding that sends the matching new items; 0: none
}

// Rule is one rule of a user. The rule applies to items that match all of its conditions.
type Rule struct {
	ID         int64
	Reader     string
	Name       string // name for display; "": pages show the conditions instead
	SourceID   int64  // source whose items the rule applies to; 0: all sources
	Category   string // category of the user whose sources the rule applies to; "": all categories
	Conditions []Condition
	Actions
	Off       bool
	Position  int64 // rank of the rule: rules run in ascending order of Position
	CreatedAt time.Time
	Progress
}

// Progress contains the counters of a rule.
type Progress struct {
	Version  int64 // number that changes with each edit of the rule
	Matched  int64 // number of items that the rule has matched
	LastAt   time.Time
	Applying bool  // true while the rule is being applied to existing items
	Applied  int64 // number of existing items that the current or last application has compared
}

// MaxApplied is the maximum number of existing items to which a rule is applied, newest first.
const MaxApplied = 10_000

// Check normalizes a rule and returns an error for the first invalid field: "name", "conditions",
// "conditions[0].field", "conditions[0].op", "conditions[0].values" or "actions".
func (r *Rule) Check() error {
	r.Name = strings.Join(strings.Fields(r.Name), " ")
	switch n := len(r.Conditions); {
	case utf8.RuneCountInString(r.Name) > MaxName:
		return invalid("name", "The name of a filter has at most %d characters.", MaxName)
	case r.SourceID != 0 && r.Category != "":
		return invalid("source", "A filter is for one feed or for one category, not for both.")
	case n == 0:
		return invalid("conditions", "A filter needs a condition: enter at least one word.")
	case n > MaxConditions:
		return invalid("conditions", "A filter has at most %d conditions, not %d.", MaxConditions, n)
	}
	for i := range r.Conditions {
		if err := r.Conditions[i].check(); err != nil {
			return fault.In(err, "conditions["+string(rune('0'+i))+"]")
		}
	}
	switch a := &r.Actions; {
	case !a.Hide && !a.Read && !a.Star && a.Forward == 0:
		return invalid("actions", "Choose what the filter does with matching items.")
	case a.Hide && a.Star:
		return invalid("actions", "A filter cannot hide items and star them: starred items stay visible.")
	}
	return nil
}

func invalid(field, format string, args ...any) error {
	return fault.In(fault.New(fault.Invalid, format, args...), field)
}

func (c *Condition) check() error {
	if !slices.Contains(Fields(), c.Field) {
		return invalid("field", "A condition compares one of %s, not %.40q.", strings.Join(Fields(), ", "), c.Field)
	}
	if !slices.Contains(Ops(), c.Op) {
		return invalid("op", "A condition compares by one of %s, not %.40q.", strings.Join(Ops(), ", "), c.Op)
	}
	c.Values = clean(c.Values, c.Op)
	longest := MaxValue
	if c.Op == Regexp {
		longest = MaxPattern
	}
	switch n := len(c.Values); {
	case n == 0:
		return invalid("values", "Enter at least one word.")
	case n > MaxValues:
		return invalid("values", "A condition has at most %d lines of words, not %d.", MaxValues, n)
	case c.Op == Regexp && n > 1:
		return invalid("values", "A condition has one regular expression, not %d: combine them with |.", n)
	}
	for _, v := range c.Values {
		if n := utf8.RuneCountInString(v); n > longest {
			return invalid("values", "“%s…” has %d characters; at most %d are allowed.", string([]rune(v)[:20]), n, longest)
		}
	}
	if c.Op == Regexp {
		_, _, err := compilePattern(c.Values[0])
		return err
	}
	return nil
}

// clean trims values, and removes empty values and duplicates.
func clean(values []string, op string) (out []string) {
	for _, v := range values {
		v = strings.ToValidUTF8(strings.ReplaceAll(v, "\x00", ""), "\uFFFD")
		if v = strings.TrimSpace(v); op != Regexp {
			v = strings.Join(strings.Fields(v), " ")
		}
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// CheckAll returns an error if a user has too many rules, or if all rules together are too large.
func CheckAll(rules []Rule) error {
	values, programs := 0, 0
	for i := range rules {
		for _, c := range rules[i].Conditions {
			values += len(c.Values)
			if c.Op == Regexp && len(c.Values) == 1 {
				_, size, err := compilePattern(c.Values[0])
				if err != nil {
					return err
				}
				programs += size
			}
		}
	}
	switch {
	case len(rules) > MaxRules:
		return fault.New(fault.TooMany, "You already have %d filters, which is the limit: delete one first.", MaxRules)
	case values > MaxAllValues:
		return fault.New(fault.TooMany, "All your filters together have %d words; at most %d are allowed.", values, MaxAllValues)
	case programs > MaxAllPrograms:
		return fault.New(fault.TooMany, "All your regular expressions together are too large: simplify this one, or use words.")
	}
	return nil
}

// Effect is the combined effect of a user's rules for one item.
type Effect struct {
	Hide       int64 // ID of the rule that hides the item; 0: the item is not hidden
	Read, Star bool
	Forward    []int64 // IDs of the forwardings that send the item
	Rules      []int64 // IDs of the rules that matched
}

// Combine combines the rules of a user in their order. matches reports whether rules[i] matches
// the item. No rule runs after a rule that hides the item. Starred items are not hidden.
func Combine(rules []Rule, starred bool, matches func(i int) bool) (d Effect) {
	for i := range rules {
		r := &rules[i]
		if r.Off || !matches(i) {
			continue
		}
		d.Rules = append(d.Rules, r.ID)
		d.Read, d.Star = d.Read || r.Read, d.Star || r.Star
		if f := r.Forward; f != 0 && !slices.Contains(d.Forward, f) {
			d.Forward = append(d.Forward, f)
		}
		if r.Hide && !d.Star && !starred {
			d.Hide, d.Read = r.ID, true
			break
		}
	}
	return d
}
