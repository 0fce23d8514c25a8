package shell

import (
	"errors"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
)

// FailureLine is the JSON line that parse prints for an input without a feed.
type FailureLine struct {
	Input string     `json:"input"`
	Error InputError `json:"error"`
}

// InputError is the reason why an input contains no feed.
type InputError struct {
	Looks   string          `json:"looks,omitempty"` // kind of the document; "" if it cannot be read
	Message string          `json:"message"`
	Feeds   []discover.Link `json:"feeds,omitempty"` // feeds that an HTML page links to, the best first
}

// NotFeed converts a parse error to an InputError that names the input.
func NotFeed(name string, err error) InputError {
	if name == "-" {
		name = "standard input"
	}
	out := InputError{Message: name + ": " + strings.TrimPrefix(err.Error(), "feed: ")}
	if e, ok := errors.AsType[*feed.NotFeedError](err); ok {
		out.Looks, out.Feeds = e.Looks, e.Feeds
	}
	return out
}

// FormatName returns the displayed name of a format, such as "RSS 2.0".
func FormatName(f feed.Format, version, variant string) string {
	name := map[feed.Format]string{feed.RSS: "RSS", feed.Atom: "Atom", feed.JSONFeed: "JSON Feed", feed.CDF: "CDF",
		feed.ScriptingNews: "scriptingNews", feed.MCF: "MCF", feed.Redirect: "a redirect in XML"}[f]
	if version != "" {
		name += " " + version
	} else if f == feed.RSS || f == feed.Atom || f == feed.JSONFeed {
		name += " without a version"
	}
	switch variant {
	case "netscape":
		name += " (Netscape)"
	case "userland":
		name += " (UserLand)"
	}
	return name
}
