package polling

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Skip is the set of hours and days, in GMT, when a feed must not be requested.
type Skip struct {
	hours uint32 // bit n is set if the hour n is skipped; bit 0: 00:00 to 01:00
	days  uint8  // bit n is set if the weekday n is skipped; bit 0: Sunday
}

// ParseSkip reads skipHours and skipDays. Hours are 0 to 24, where 24 means 0. Days are English
// names or abbreviations in any case. Invalid entries are ignored. A list of all 24 hours or all
// seven days counts as empty, because the feed would never be read. problem describes the ignored
// entries.
func ParseSkip(hours, days []string) (s Skip, problem string) {
	var wrong []string
	for _, list := range hours {
		for word := range words(list) {
			// spec:feedstate-2007#skip-hours
			if n, ok := hourOf(word); ok {
				s.hours |= 1 << (n % 24)
			} else {
				wrong = append(wrong, short(word))
			}
		}
	}
	for _, list := range days {
		for word := range words(list) {
			// spec:feedstate-2007#skip-days
			if n, ok := dayOf(word); ok {
				s.days |= 1 << n
			} else {
				wrong = append(wrong, short(word))
			}
		}
	}
	if len(wrong) > 0 {
		problem = "without " + short(strings.Join(wrong, ", "))
	}
	if s.hours == 1<<24-1 {
		s.hours, problem = 0, "all 24 hours cannot be meant"
	}
	if s.days == 1<<7-1 {
		s.days, problem = 0, "all seven days cannot be meant"
	}
	return s, problem
}

func words(list string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

func hourOf(word string) (uint, bool) {
	word = strings.TrimSuffix(word, ":00") // accept the form 06:00
	n, err := strconv.ParseUint(word, 10, 8)
	if err != nil || n > 24 {
		return 0, false
	}
	return uint(n), true
}

func dayOf(word string) (time.Weekday, bool) {
	word = strings.ToLower(strings.TrimSuffix(word, "."))
	if len(word) < 2 {
		return 0, false
	}
	if word == "weds" {
		return time.Wednesday, true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.HasPrefix(strings.ToLower(d.String()), word) {
			return d, true
		}
	}
	return 0, false
}

// Empty reports whether no hour and no day is skipped.
func (s Skip) Empty() bool { return s == Skip{} }

// Hours returns the skipped hours, 0 to 23.
func (s Skip) Hours() []int {
	var out []int
	for h := range 24 {
		if s.hours>>h&1 == 1 {
			out = append(out, h)
		}
	}
	return out
}

// Days returns the skipped days.
func (s Skip) Days() []time.Weekday {
	var out []time.Weekday
	for d := range time.Weekday(7) {
		if s.days>>d&1 == 1 {
			out = append(out, d)
		}
	}
	return out
}

// Within reports whether t is skipped.
func (s Skip) Within(t time.Time) bool {
	t = t.UTC()
	return s.hours>>t.Hour()&1 == 1 || s.days>>t.Weekday()&1 == 1
}

// After returns the first time at or after t that is not skipped: t itself or the start of an
// hour.
func (s Skip) After(t time.Time) time.Time {
	for range 7 * 24 { // ends within a week, because full lists count as empty
		if !s.Within(t) {
			return t
		}
		t = t.UTC().Truncate(time.Hour).Add(time.Hour)
	}
	return t
}

// leave is like After, but if the time moves, it adds some minutes by jitter, a fraction from 0 to
// 1, because many feeds wait for the end of the same hour.
func (s Skip) leave(t time.Time, jitter float64) time.Time {
	at := s.After(t)
	if at.Equal(t) {
		return t
	}
	return stamp(at.Add(scale(min(s.freeUntil(at, skippedSpread+time.Second)-time.Second, skippedSpread), jitter)))
}

// freeUntil returns how long after t no time is skipped, at most limit.
func (s Skip) freeUntil(t time.Time, limit time.Duration) time.Duration {
	for at := t; ; {
		if s.Within(at) {
			return at.Sub(t)
		}
		if at = at.UTC().Truncate(time.Hour).Add(time.Hour); at.Sub(t) >= limit {
			return limit
		}
	}
}

// before returns the last time up to t that is not skipped, not before earliest, and not so close
// to a skipped hour that the check could start in it. If there is no such time, ok is false.
func (s Skip) before(t, earliest time.Time) (_ time.Time, ok bool) {
	for range 24 {
		top := t.UTC().Truncate(time.Hour)
		if !s.Within(t) {
			return t, true
		}
		if t = top.Add(-skippedSpread); t.Before(earliest) {
			return t, false
		}
	}
	return t, false
}

// String formats s for people, such as "6–11 h, Sunday".
func (s Skip) String() string {
	var b strings.Builder
	hours := s.Hours()
	for i := 0; i < len(hours); i++ {
		from := hours[i]
		for i+1 < len(hours) && hours[i+1] == hours[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(from))
		if hours[i] > from {
			b.WriteString("–" + strconv.Itoa(hours[i]))
		}
	}
	if len(hours) > 0 {
		b.WriteString(" h")
	}
	for _, d := range s.Days() {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.String())
	}
	return b.String()
}
