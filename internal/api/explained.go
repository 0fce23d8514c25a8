package api

import "cloudburst/internal/river"

// Explained is an explanation as it is written in JSON, everywhere in the same form: a
// client.Explanation.
func ExplanationJSON(f *river.Followed, e *river.Explanation) any { return explanationOf(f, e) }
