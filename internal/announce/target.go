package announce

import (
	"net/url"
	"slices"
	"strings"

	"cloudburst/internal/fault"
)

// Kinds of sink: the way in which each is told.
const (
	RSSCloud        = "rsscloud"         // rssCloud's form: url=…
	RSSCloudRPC     = "rsscloud-xmlrpc"  // rssCloud.ping over XML-RPC
	Weblogs         = "weblogs"          // weblogUpdates.ping over XML-RPC
	WeblogsExtended = "weblogs-extended" // weblogUpdates.extendedPing over XML-RPC
	Get             = "get"              // a GET of the URL, with name and address in the places {0} and {1}
	WebSub          = "websub"           // hub.mode=publish
)

// MaxURL is the length, in bytes, of the longest URL of a sink.
const MaxURL = 1024

// MaxOwn is how many sinks an author can have besides those of the server.
const MaxOwn = 10

// Kinds lists the kinds, as they are written.
func Kinds() []string {
	return []string{RSSCloud, RSSCloudRPC, Weblogs, WeblogsExtended, Get, WebSub}
}

// Sink is a server that is told of what is saved here.
type Target struct {
	Kind string
	URL  string
}

// String is the sink as people write it: kind, blank, URL.
func (s Target) String() string { return s.Kind + " " + s.URL }

// Host is the sink's host and port.
func (s Target) Host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// ParseSink reads "KIND URL". The error is a fault.Invalid that says what is wrong.
func ParseTarget(text string) (Target, error) {
	kind, address, _ := strings.Cut(strings.TrimSpace(text), " ")
	s := Target{Kind: kind, URL: strings.TrimSpace(address)}
	if !slices.Contains(Kinds(), kind) {
		return Target{}, fault.New(fault.Invalid, "%.100q does not begin with how the sink is told: it needs one of %s, a blank and a URL.", text, strings.Join(Kinds(), ", "))
	}
	return s, s.check()
}

func (s Target) check() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "":
		return fault.New(fault.Invalid, "The sink %q has no URL behind it.", s.Kind)
	case len(s.URL) > MaxURL:
		return fault.New(fault.Invalid, "The URL of a sink has %d bytes; at most %d are kept.", len(s.URL), MaxURL)
	case strings.ContainsFunc(s.URL, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fault.New(fault.Invalid, "%.200q is not the URL of a sink: it has a space or a control character in it.", s.URL)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return fault.New(fault.Invalid, "%.200q is not the URL of a sink: it needs http:// or https:// and a host.", s.URL)
	case u.User != nil:
		return fault.New(fault.Invalid, "The URL of the sink at %s has a user name in it, which others would see.", u.Host)
	case u.Fragment != "":
		return fault.New(fault.Invalid, "%.200q is not the URL of a sink: what is behind # never reaches a server.", s.URL)
	}
	return nil
}

// ParseSinks reads a list with commas between, as settings have it. An empty text is an
// empty list; a sink that is there twice is there once.
func ParseTargets(list string) ([]Target, error) {
	var all []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return parseAll(all)
}

// ParseOwn reads the sinks of one author, at most MaxOwn.
func ParseOwn(list []string) ([]Target, error) {
	if len(list) > MaxOwn {
		return nil, fault.New(fault.Invalid, "There are %d sinks; an author has at most %d of his own.", len(list), MaxOwn)
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
