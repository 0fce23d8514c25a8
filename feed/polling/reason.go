package polling

import (
	"fmt"
	"strings"
	"time"
)

// reason returns the clause that follows "next check 14:20: ".
func (p *plan) reason() string {
	if p.s.Gone != nil {
		return p.s.Gone.Reason
	}
	var first, then, also, ignored []string
	for _, c := range p.list {
		switch c.Effect {
		case Decides:
			first = append(first, c.Text)
		case Moves:
			text := "moved out of " + c.Text
			if c.Note != "" {
				text += ", " + c.Note
			}
			then = append(then, text)
		case Bounds:
			then = append(then, c.Text)
		case Allows, Overrode:
			also = append(also, c.brief())
		case Ignored:
			ignored = append(ignored, c.Text+" ignored ("+c.Note+")")
		}
	}
	s := strings.Join(append(first, then...), ", ")
	if len(also) > 0 {
		s += "; " + and(also) + " considered"
	}
	for _, i := range ignored {
		s += "; " + i
	}
	return strings.TrimPrefix(s, "; ")
}

// brief returns a short form of Text, for considerations that did not decide.
func (c Consideration) brief() string {
	switch c.Rule {
	case RuleSkip:
		name, _, _ := strings.Cut(c.Text, " (")
		return name
	case RuleBackOff:
		return "a wait that grows with failures"
	case RuleMaxAge, RuleExpires:
		text, _, _ := strings.Cut(c.Text, " seen ")
		return text
	}
	return c.Text
}

func and(list []string) string {
	n := len(list)
	if n < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
}

// clock formats t for people. It names the day if that is not the day of now.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	switch gap := t.Sub(now).Abs(); {
	case t.YearDay() == now.YearDay() && gap < 24*time.Hour:
		return t.Format("15:04")
	case gap < 6*24*time.Hour:
		return t.Format("Mon 15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// span formats a wait for people, such as 45 s, 5 min, 1 h 30 min, 12 h or 3 days.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d <= 72*time.Hour:
		s := fmt.Sprintf("%d h", int(d/time.Hour))
		if m := int(d/time.Minute) % 60; m > 0 {
			s += fmt.Sprintf(" %d min", m)
		}
		return s
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
