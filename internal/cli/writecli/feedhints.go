package writecli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/date"
)

// hintFlags has the values of the flags of "feed hints".
type hintFlags struct {
	ttl, frequency            int
	hours, days, period, base string
}

func (p *commands) feedHints() *cobra.Command {
	var w feedSelector
	var h hintFlags
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "hints --user NAME",
		Short: "Print or set the polling hints of a user's feed",
		Long: `Prints the polling hints in the feed of a user's posts, or sets the hints that you
name by flags. 0 or an empty value removes a hint. The command does not change the hints
of a document that was saved as a feed.

The feed contains the hints as ttl, skipHours, skipDays and elements of the syndication
module, in each format that supports them. They also set how long caches may store the
feed: from a minute to an hour.

--json prints an object: ttl, skip_hours, skip_days, update_period, update_frequency,
update_base.`,
		Example: `  cloudburst feed hints --user alice --ttl 120 --skip-hours 0-5,23 --skip-days Sunday
  cloudburst feed hints --user alice --update-period daily --update-frequency 2`,
		Args: shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				writer, err := s.Writer(ctx, w.user)
				if err != nil {
					return err
				}
				now := cmp.Or(writer.Hints, &client.FeedHints{})
				changed, err := h.apply(c, now)
				if err != nil {
					return err
				}
				if changed {
					writer.Profile.Hints = now
					if writer, err = s.SetProfile(ctx, w.user, writer.Profile); err != nil {
						return err
					}
				}
				return p.printHints(cmp.Or(writer.Hints, &client.FeedHints{}), asJSON)
			})
		},
	})
	f := c.Flags()
	w.userFlag(c)
	f.IntVar(&h.ttl, "ttl", 0, "minimum `minutes` between two reads of the feed")
	f.StringVar(&h.hours, "skip-hours", "", "`hours` (GMT) without new items, in which readers may skip the feed: 0-5,23")
	f.StringVar(&h.days, "skip-days", "", "`days` without new items, on which readers may skip the feed: Saturday,Sunday")
	f.StringVar(&h.period, "update-period", "", "update `period`: hourly, daily, weekly, monthly or yearly")
	f.IntVar(&h.frequency, "update-frequency", 0, "number of `times` that the feed changes in one period")
	f.StringVar(&h.base, "update-base", "", "start `time` of the periods: 2026-01-01T12:00:00Z")
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// apply changes the hints whose flags are set. changed reports whether a flag was set.
func (h *hintFlags) apply(c *cobra.Command, to *client.FeedHints) (changed bool, err error) {
	for _, name := range []string{"ttl", "skip-hours", "skip-days", "update-period", "update-frequency", "update-base"} {
		if !c.Flags().Changed(name) {
			continue
		}
		changed = true
		switch name {
		case "ttl":
			to.TTL = h.ttl
		case "skip-hours":
			if to.SkipHours, err = hoursOf(h.hours); err != nil {
				return false, err
			}
		case "skip-days":
			to.SkipDays = listOf(h.days)
		case "update-period":
			to.UpdatePeriod = h.period
		case "update-frequency":
			to.UpdateFrequency = h.frequency
		case "update-base":
			to.UpdateBase = nil
			if h.base != "" {
				at, ok := date.Parse(h.base)
				if !ok {
					return false, shell.Usagef("invalid value %q for --update-base: must be a time such as 2026-01-01T12:00:00Z", h.base)
				}
				to.UpdateBase = &at
			}
		}
	}
	return changed, nil
}

// hoursOf parses a list of hours and ranges of hours, such as "0-6,12" or "22-3".
func hoursOf(s string) (hours []int, err error) {
	for _, part := range listOf(s) {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from < 0 || from > 23 || to < 0 || to > 23 {
			return nil, shell.Usagef("invalid value %q for --skip-hours: must be hours from 0 to 23 or ranges such as 0-5, separated by commas", part)
		}
		for hour := from; hour != to; hour = (hour + 1) % 24 {
			hours = append(hours, hour)
		}
		hours = append(hours, to)
	}
	return hours, nil
}

// listOf splits a list at commas and removes spaces.
func listOf(s string) (parts []string) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func (p *commands) printHints(h *client.FeedHints, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(p.Out).Encode(h)
	}
	t := shell.NewTable(p.Out, "HINT", "VALUE")
	base := ""
	if h.UpdateBase != nil {
		base = h.UpdateBase.Format(time.RFC3339)
	}
	for _, row := range [][2]string{
		{"ttl", count(h.TTL)}, {"skipHours", strings.Trim(fmt.Sprint(h.SkipHours), "[]")}, {"skipDays", strings.Join(h.SkipDays, " ")},
		{"updatePeriod", h.UpdatePeriod}, {"updateFrequency", count(h.UpdateFrequency)}, {"updateBase", base},
	} {
		if err := t.Row(row[:]...); err != nil {
			return err
		}
	}
	return t.End()
}

// count formats a number; "" for 0.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
