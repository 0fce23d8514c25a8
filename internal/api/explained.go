package api

import (
	"cloudburst/internal/api/form"
	"cloudburst/internal/river"
)

// ExplanationJSON converts an explanation to client.Explanation, its JSON form.
func ExplanationJSON(f *river.Followed, e *river.Explanation) any { return form.Explanation(f, e) }
