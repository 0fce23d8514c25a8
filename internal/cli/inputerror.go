package cli

import (
	"errors"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/discover"
)

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

func formatName(f feed.Format, version, variant string) string {
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
