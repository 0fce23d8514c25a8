package formatcli

import (
	"bytes"

	"cloudburst/feed"
	"cloudburst/internal/cli/shell"
)

// feedLine is a feed as parse prints it.
type feedLine struct {
	Input string `json:"input"`
	*feed.Feed
	ProblemCount int            `json:"problemCount"`
	Problems     []feed.Problem `json:"problems,omitzero"` // with --problems: hides the feed's own
}

// printFeed adds a line to w, or nothing with an error.
func printFeed(w *bytes.Buffer, name string, f *feed.Feed, problems bool) error {
	line := feedLine{Input: name, Feed: f, ProblemCount: len(f.Problems)}
	if n := len(f.Problems); n > 0 && f.Problems[n-1].Kind == feed.ProblemMore {
		line.ProblemCount += f.Problems[n-1].Count - 1
	}
	if problems {
		line.Problems = append([]feed.Problem{}, f.Problems...)
	}
	return shell.JSONLines(w).Encode(line)
}

// printFailure adds a line to w.
func printFailure(w *bytes.Buffer, name string, failure shell.InputError) {
	// Texts only: nothing that JSON cannot say.
	_ = shell.JSONLines(w).Encode(shell.FailureLine{Input: name, Error: failure})
}
