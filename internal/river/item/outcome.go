package item

import (
	"fmt"
	"strings"

	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/text"
)

const maxOutcome = 300 // maximum number of characters

// Outcome describes the result of a check in one sentence. notModified reports whether the response
// was 304.
func (m *Merged) Outcome(d *polling.Decision, notModified bool) string {
	var s string
	switch d.Outcome {
	case polling.Changed:
		s = m.changes()
	case polling.Unchanged:
		if s = "Nothing new: the document is the same as last time"; notModified {
			s = "Nothing new: 304 Not Modified"
		}
	case polling.Failed:
		s = "Failed: " + d.Failure
	case polling.IsGone:
		s = "Gone: " + d.Failure
	case polling.Postponed:
		s = "This server could not send the request"
	case polling.Doubtful:
		s = "The answer may have been about another document; it is requested again without validators"
	case polling.Redirected:
		s = "A redirect document"
	}
	if d.MovedTo != "" {
		s += "; moved to " + fetch.Redact(d.MovedTo)
	}
	for _, w := range d.Warnings {
		s += "; " + w
	}
	return text.ClipRunes(strings.ToValidUTF8(s, "\uFFFD"), maxOutcome) + "."
}

func (m *Merged) changes() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{m.Fresh, "new"}, {m.Edited, "edited"}, {len(m.Withdrawn), "withdrawn"}, {m.Restored, "back again"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "Another document, but its items are the same"
	}
	return "Items: " + strings.Join(parts, ", ")
}
