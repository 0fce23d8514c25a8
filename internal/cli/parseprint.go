package cli

import (
	"bytes"
	"errors"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
)

// feedLine is a feed as parse prints it.
type feedLine struct {
	Input string `json:"input"`
	*feed.Feed
	ProblemCount int            `json:"problemCount"`
	Problems     []feed.Problem `json:"problems,omitzero"` // with --problems: hides the feed's own
}

// failureLine is what parse prints for what is no feed.
type failureLine struct {
	Input string     `json:"input"`
	Error inputError `json:"error"`
}

// inputError says why there is no feed.
type inputError struct {
	Looks   string          `json:"looks,omitempty"` // what the document is instead; none when it could not be read
	Message string          `json:"message"`
	Feeds   []discover.Link `json:"feeds,omitempty"` // that an HTML page names, the best first
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
	return lines(w).Encode(line)
}

// printFailure adds a line to w.
func printFailure(w *bytes.Buffer, name string, failure inputError) {
	// Texts only: nothing that JSON cannot say.
	_ = lines(w).Encode(failureLine{name, failure})
}

// notFeed says what an input is that is no feed.
func notFeed(name string, err error) inputError {
	if name == "-" {
		name = "standard input"
	}
	out := inputError{Message: name + ": " + strings.TrimPrefix(err.Error(), "feed: ")}
	if e, ok := errors.AsType[*feed.NotFeedError](err); ok {
		out.Looks, out.Feeds = e.Looks, e.Feeds
	}
	return out
}
