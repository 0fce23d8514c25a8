package author

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/fault"
)

// Hints state when feed readers should poll a user's feed. Only feeds that are made of posts
// contain them. The zero value has no hints.
//
// spec:feedstate-2007#skip-publish
type Hints struct {
	TTL             int       `json:"ttl,omitempty"`             // minutes between two polls
	SkipHours       []int     `json:"skipHours,omitempty"`       // hours in GMT without polls, 0 to 23
	SkipDays        []string  `json:"skipDays,omitempty"`        // days without polls, "Monday" to "Sunday"
	UpdatePeriod    string    `json:"updatePeriod,omitempty"`    // length of the periods, one of Periods
	UpdateFrequency int       `json:"updateFrequency,omitempty"` // polls in each period; 0: one poll
	UpdateBase      time.Time `json:"updateBase,omitzero"`       // time when a period begins
}

// IsZero reports whether there are no hints.
func (h Hints) IsZero() bool { return reflect.ValueOf(h).IsZero() }

// Limits of hints.
const (
	maxTTL       = 525_600 // in minutes: one year
	maxFrequency = 1000
)

// Periods returns the values of UpdatePeriod in the RSS syndication module, shortest first.
func Periods() []string { return []string{"hourly", "daily", "weekly", "monthly", "yearly"} }

// check normalizes the hints. It returns a fault.Invalid that names the first invalid value.
func (h *Hints) check() error {
	if h.TTL < 0 || h.TTL > maxTTL {
		return hintFault("ttl", "%d is not a time to live: it must be 1 to %d minutes, or 0 for none.", h.TTL, maxTTL)
	}
	slices.Sort(h.SkipHours)
	h.SkipHours = slices.Compact(h.SkipHours)
	for _, hour := range h.SkipHours {
		if hour < 0 || hour > 23 {
			return hintFault("skipHours", "%d is not an hour of the day: skipHours has hours of GMT from 0 to 23.", hour)
		}
	}
	if len(h.SkipHours) == 24 {
		return hintFault("skipHours", "skipHours contains all 24 hours, so readers would never poll the feed. Leave one out.")
	}
	if err := h.checkDays(); err != nil {
		return err
	}
	h.UpdatePeriod = strings.ToLower(strings.TrimSpace(h.UpdatePeriod))
	switch {
	case h.UpdatePeriod != "" && !slices.Contains(Periods(), h.UpdatePeriod):
		return hintFault("updatePeriod", "%q is not a period: it must be one of %s.", clip(h.UpdatePeriod), strings.Join(Periods(), ", "))
	case h.UpdateFrequency < 0 || h.UpdateFrequency > maxFrequency:
		return hintFault("updateFrequency", "%d is not a frequency: it must be 1 to %d times in a period, or 0 for none.", h.UpdateFrequency, maxFrequency)
	case h.UpdatePeriod == "" && h.UpdateFrequency > 0:
		return hintFault("updatePeriod", "A frequency of %d needs a period: one of %s.", h.UpdateFrequency, strings.Join(Periods(), ", "))
	case h.UpdatePeriod == "" && !h.UpdateBase.IsZero():
		return hintFault("updatePeriod", "The base %s needs a period: one of %s.", h.UpdateBase.Format(time.RFC3339), strings.Join(Periods(), ", "))
	}
	if !h.UpdateBase.IsZero() {
		h.UpdateBase = h.UpdateBase.UTC().Truncate(time.Second)
	}
	return nil
}

// checkDays sorts the days from Monday to Sunday and removes duplicates.
func (h *Hints) checkDays() error {
	var days [7]bool
	for _, name := range h.SkipDays {
		known := false
		for d := range days {
			if strings.EqualFold(strings.TrimSpace(name), time.Weekday(d).String()) {
				days[d], known = true, true
			}
		}
		if !known {
			return hintFault("skipDays", "%q is not a day of the week: skipDays has the names Monday to Sunday.", clip(name))
		}
	}
	h.SkipDays = nil
	for i := range days {
		if d := (i + 1) % 7; days[d] {
			h.SkipDays = append(h.SkipDays, time.Weekday(d).String())
		}
	}
	if len(h.SkipDays) == 7 {
		return hintFault("skipDays", "skipDays contains all seven days, so readers would never poll the feed. Leave one out.")
	}
	return nil
}

func hintFault(field, format string, args ...any) error {
	return fault.In(fault.New(fault.Invalid, format, args...), field)
}

// of converts the hints to the type of package feed.
func (h *Hints) of() feed.Hints {
	f := feed.Hints{SkipDays: h.SkipDays, UpdatePeriod: h.UpdatePeriod, UpdateBase: dateOf(h.UpdateBase)}
	if h.TTL > 0 {
		f.TTL = strconv.Itoa(h.TTL)
	}
	if h.UpdateFrequency > 0 {
		f.UpdateFrequency = strconv.Itoa(h.UpdateFrequency)
	}
	for _, hour := range h.SkipHours {
		f.SkipHours = append(f.SkipHours, strconv.Itoa(hour))
	}
	return f
}
