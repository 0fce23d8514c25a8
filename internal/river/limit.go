package river

import "cloudburst/internal/fault"

// MaxOfOperator is the maximum number of feeds of a user if the server's operator adds them. If
// another user adds feeds, [Options.Max] is the limit.
const MaxOfOperator = 250_000

// maxFeeds returns the maximum number of feeds that a user may follow.
func maxFeeds(r *River, operator bool) int {
	if o := r.options(); !operator || o.Max > MaxOfOperator {
		return o.Max
	}
	return MaxOfOperator
}

// overLimit returns the error for a user who reached the feed limit.
func overLimit(limit int) error {
	return fault.New(fault.TooMany, "You follow as many feeds as this server allows: %d (the setting river.max-feeds). Unfollow some first, or ask the operator to raise the limit.", limit)
}
