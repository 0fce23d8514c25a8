package api

import (
	"cloudburst/internal/api/form"
	"cloudburst/internal/river"
)

// ExplanationJSON returns an explanation in its JSON form, a client.Explanation.
func ExplanationJSON(f *river.Followed, e *river.Explanation) any { return form.Explanation(f, e) }
