package shell

import (
	"errors"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
)

// FailureLine is what parse prints for what is no feed.
type FailureLine struct {
	Input string     `json:"input"`
	Error InputError `json:"error"`
}

// InputError says why there is no feed.
type InputError struct {
	Looks   string          `json:"looks,omitempty"` // what the document is instead; none when it could not be read
	Message string          `json:"message"`
	Feeds   []discover.Link `json:"feeds,omitempty"` // that an HTML page names, the best first
}

// NotFeed says what an input is that is no feed.
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

// FormatName is the name of a feed's format for people.
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
