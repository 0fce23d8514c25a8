package crashtest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// span limits the time during which a version was the current feed, as observed from outside. The
// version was saved before firstEnd, the end of the first call that saved or read it. At
// lastStart, the start of the last such call, the version was not yet replaced.
type span struct {
	firstEnd, lastStart time.Time
	acknowledged, seen  bool
}

// spans returns the span of each version of a user's feed, by version. Version 0 means that there
// is no feed. The span is nil if the version may never have been saved.
func (h *history) spans(user string) []*span {
	all := make([]*span, 1+len(h.saves[user]))
	all[0] = &span{seen: true}
	for _, s := range h.saves[user] {
		all[s.version] = &span{firstEnd: h.saved(s), lastStart: s.from, acknowledged: s.ok}
	}
	for _, l := range h.reads[user] {
		s := all[l.version]
		s.seen = true
		if l.to.Before(s.firstEnd) {
			s.firstEnd = l.to
		}
		if l.from.After(s.lastStart) {
			s.lastStart = l.from
		}
	}
	for i, s := range all {
		if !s.seen && !s.acknowledged {
			all[i] = nil
		}
	}
	return all
}

// saved returns a time at which the version is certainly saved, if it was saved at all.
func (h *history) saved(s *save) time.Time {
	if s.ok {
		return s.to
	}
	end := h.effect(s.from)
	if to := s.done(); to.After(end) {
		end = to
	}
	return end
}

// before reports whether version s certainly existed before version other.
func (s *span) before(other *span) bool {
	return s != nil && other != nil && s != other && s.firstEnd.Before(other.lastStart)
}

// checkSaves reports versions that have no possible order. For example, a reader did not get an
// acknowledged version, or an older version replaced a newer one. The check uses the rule for a
// register with distinct writes (Gibbons and Korach, 1997).
func (h *history) checkSaves(r *Report) (broken []string) {
	for _, user := range slices.Sorted(maps.Keys(h.saves)) {
		all := h.order[user]
		for a, one := range all {
			if one != nil && one.acknowledged {
				r.Saved++
			}
			for b, two := range all[:a] {
				if one.before(two) && two.before(one) {
					broken = append(broken, fmt.Sprintf("save lost: version %d of %s's feed existed from %s to %s, and version %d from %s to %s",
						b, user, two.firstEnd.Format(clock), two.lastStart.Format(clock), a, one.firstEnd.Format(clock), one.lastStart.Format(clock)))
				}
			}
		}
	}
	return broken
}

// host adds the changes of hosted feeds that subscribers must be notified of: acknowledged saves,
// and saves that a reader has seen.
func (h *history) host() {
	h.order = map[string][]*span{}
	for user, saves := range h.saves {
		h.order[user] = h.spans(user)
		for _, s := range saves {
			c := s.call
			is := h.order[user][s.version]
			c.ok = is != nil
			for _, form := range []string{asSaved, rendered} {
				topic := owner{name: user}.topic(form)
				h.versions[topic] = append(h.versions[topic], published{s.version, s.from, c})
			}
		}
	}
}

// older reports whether version a of a feed is certainly older than version b.
func (h *history) older(feed string, a, b int) bool {
	user, _, hosted := hostedTopic(feed)
	if !hosted {
		return a < b
	}
	all := h.order[user]
	return max(a, b) < len(all) && all[a].before(all[b])
}
