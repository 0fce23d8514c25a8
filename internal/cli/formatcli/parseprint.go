package formatcli

import (
	"bytes"

	"cloudburst/feed"
	"cloudburst/internal/cli/shell"
)

// feedLine is the JSON line of a feed.
type feedLine struct {
	Input string `json:"input"`
	*feed.Feed
	ProblemCount int            `json:"problemCount"`
	Problems     []feed.Problem `json:"problems,omitzero"` // set only with --problems; hides feed.Feed.Problems
}

// printFeed appends the line of a feed to w. If encoding fails, it appends nothing.
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

// printFailure appends the line of a failed input to w.
func printFailure(w *bytes.Buffer, name string, failure shell.InputError) {
	// Encoding a struct of strings cannot fail.
	_ = shell.JSONLines(w).Encode(shell.FailureLine{Input: name, Error: failure})
}
