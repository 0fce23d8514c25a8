package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"cloudburst/discover"
	"cloudburst/feed"
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
func notFeed(name string, o *feed.Options, err error) inputError {
	e, ok := errors.AsType[*feed.NotFeedError](err)
	if !ok {
		return inputError{Message: fmt.Sprintf("%s cannot be parsed: %v", name, err)}
	}
	out := inputError{Looks: e.Looks}
	subject := name
	if name == "-" {
		subject = "standard input"
	}
	out.Message = subject + " is no feed: it " + looks(e)
	if e.Looks == "html" {
		out.Feeds = e.Feeds
		out.Message += feedsOf(out.Feeds)
	}
	return out
}

// feedsOf is the rest of a sentence about a page: where its feeds are.
func feedsOf(links []discover.Link) string {
	const most = 3
	if len(links) == 0 {
		return ", and it names no feed"
	}
	said := ", and its feed is "
	if len(links) > 1 {
		said = fmt.Sprintf(", and its %d feeds are ", len(links))
	}
	for i, l := range links[:min(len(links), most)] {
		if i > 0 {
			said += ", "
		}
		said += short(l.URL, 200)
	}
	if len(links) > most {
		said += " …"
	}
	return said
}

// looks is the end of a sentence about a document that is no feed.
func looks(e *feed.NotFeedError) string {
	switch e.Looks {
	case "empty":
		return "is empty"
	case "html":
		return "is an HTML page"
	case "json":
		return "is JSON without the version that a JSON Feed has"
	case "opml":
		return "is an OPML list (cloudburst opml show reads those)"
	case "image", "audio":
		return "is an " + e.Looks + " file"
	case "pdf":
		return "is a PDF document"
	case "zip", "gzip":
		return "is a " + e.Looks + " archive"
	case "video":
		return "is a video"
	case "text":
		return "is plain text"
	case "xml":
		if root := strings.TrimSpace(e.Detail); root != "" {
			return "is XML of another kind, with the root element <" + short(root, 80) + ">"
		}
		return "is XML of another kind"
	}
	return "is binary data"
}
