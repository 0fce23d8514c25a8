package announce

import (
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/fault"
)

// Kinds of ping targets. The kind selects the protocol of the ping.
const (
	RSSCloud        = "rsscloud"         // rssCloud form post: url=…
	RSSCloudRPC     = "rsscloud-xmlrpc"  // rssCloud.ping over XML-RPC
	Weblogs         = "weblogs"          // weblogUpdates.ping over XML-RPC
	WeblogsExtended = "weblogs-extended" // weblogUpdates.extendedPing over XML-RPC
	Get             = "get"              // GET request; {0} in the URL stands for the feed's title and {1} for its URL
	WebSub          = "websub"           // WebSub publish request (hub.mode=publish)
)

// MaxURL is the maximum length of a target's URL in bytes.
const MaxURL = 1024

// MaxOwn is the maximum number of an author's own targets. The targets of the server do not count.
const MaxOwn = 10

// Kinds lists the kinds as users write them.
func Kinds() []string {
	return []string{RSSCloud, RSSCloudRPC, Weblogs, WeblogsExtended, Get, WebSub}
}

// Target is a server that is pinged when a feed is saved.
type Target struct {
	Kind string
	URL  string
}

// String returns the written form of the target: kind, space, URL.
func (s Target) String() string { return s.Kind + " " + s.URL }

// Host returns the target's host and port, or "" for an invalid URL.
func (s Target) Host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// ParseTarget parses "KIND URL". The error is a fault.Invalid with the reason.
func ParseTarget(text string) (Target, error) {
	kind, address, _ := strings.Cut(strings.TrimSpace(text), " ")
	s := Target{Kind: kind, URL: strings.TrimSpace(address)}
	if !slices.Contains(Kinds(), kind) {
		return Target{}, fault.New(fault.Invalid, "%.100q is not a ping target: write a kind (one of %s), a space and a URL.", text, strings.Join(Kinds(), ", "))
	}
	return s, s.check()
}

func (s Target) check() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "":
		return fault.New(fault.Invalid, "The ping target %q has no URL after its kind.", s.Kind)
	case len(s.URL) > MaxURL:
		return fault.New(fault.Invalid, "The URL of a ping target has %d bytes; at most %d are accepted.", len(s.URL), MaxURL)
	case strings.ContainsFunc(s.URL, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "%.200q is not the URL of a ping target: it contains a space or a control character.", s.URL)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return fault.New(fault.Invalid, "%.200q is not the URL of a ping target: it must have http:// or https:// and a host.", s.URL)
	case u.User != nil:
		return fault.New(fault.Invalid, "The URL of the ping target at %s contains a user name, which others would see; remove it.", u.Host)
	case u.Fragment != "":
		return fault.New(fault.Invalid, "%.200q is not the URL of a ping target: remove the part after #, which is never sent to a server.", s.URL)
	}
	return nil
}

// ParseTargets parses a comma-separated list of targets, as in settings. An empty text gives an
// empty list. Duplicates are removed.
func ParseTargets(list string) ([]Target, error) {
	var all []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return parseAll(all)
}

// ParseOwn parses an author's own targets, at most MaxOwn.
func ParseOwn(list []string) ([]Target, error) {
	if len(list) > MaxOwn {
		return nil, fault.New(fault.Invalid, "There are %d ping targets; an author can have at most %d.", len(list), MaxOwn)
	}
	return parseAll(list)
}

func parseAll(list []string) ([]Target, error) {
	var all []Target
	for _, text := range list {
		s, err := ParseTarget(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all, nil
}
