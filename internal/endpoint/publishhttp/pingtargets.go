package publishhttp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"cloudburst/internal/announce"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
	"cloudburst/protocol/xmlrpc"
)

// SinkSender tells other servers that a feed here was saved; it is an announce.Sender.
type TargetSender struct {
	HTTP      rsscloud.HTTPClient // it must be guarded, for authors name sinks
	UserAgent string
	Now       func() time.Time // nil: time.Now
	// Changed is the page of the item that changed last in the public feed of a user, and
	// its categories; "" where it is not known. nil: they are never known.
	Changed func(ctx context.Context, user string) (page string, categories []string)
}

// Send tells one sink in its own way.
//
// spec:cloudburst#sinks-kinds
func (s *TargetSender) Send(ctx context.Context, to announce.Target, n announce.News) (text string, err error) {
	seen := &seeing{http: s.HTTP}
	switch to.Kind {
	case announce.RSSCloud, announce.RSSCloudRPC:
		text, err = s.cloud(ctx, seen, to, n.Topic)
	case announce.Weblogs, announce.WeblogsExtended, announce.Get:
		text, err = s.weblogs(ctx, seen, to, n)
	case announce.WebSub:
		client := &websub.Client{HTTP: seen, UserAgent: s.UserAgent}
		text, err = "It took the ping.", client.Publish(ctx, to.URL, n.Topic)
	default:
		return "", fault.New(fault.Invalid, "This server cannot tell sinks of the kind %q.", to.Kind)
	}
	if err != nil {
		return "", s.failure(err, seen)
	}
	if text == "" {
		return "", nil
	}
	return endpoint.OneLine(text), nil
}

// cloud pings a hub of rssCloud. One that is named without a path has its door where the
// hubs of that time have it.
//
// spec:rsscloud-2009#ping-rest
// spec:rsscloud-2009#ping-xml-rpc
func (s *TargetSender) cloud(ctx context.Context, h rsscloud.HTTPClient, to announce.Target, topic string) (string, error) {
	protocol, door := rsscloud.HTTPPost, to.URL
	if to.Kind == announce.RSSCloudRPC {
		protocol = rsscloud.XMLRPC
	}
	if u, err := url.Parse(door); err == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		if u.Path = "/rsscloud/ping"; protocol == rsscloud.XMLRPC {
			u.Path = "/RPC2"
		}
		door = u.String()
	}
	client := &rsscloud.Client{HTTP: h, UserAgent: s.UserAgent}
	r, err := client.Ping(ctx, protocol, door, topic)
	if err == nil && !r.Success {
		err = fault.New(fault.Refused, "It refused the ping: %s", endpoint.OneLine(r.Msg))
	}
	return r.Msg, err
}

// tagsOf are categories as an extended ping can have them, with | between them.
//
// spec:feedstate-2007#ping-extended
func tagsOf(categories []string) []string {
	return weblogs.ParseTags(strings.ReplaceAll(strings.ReplaceAll(strings.Join(categories, "\n"), "|", "/"), "\n", "|"))
}

// weblogs tells of the site that the feed belongs to.
func (s *TargetSender) weblogs(ctx context.Context, h weblogs.HTTPClient, to announce.Target, n announce.News) (string, error) {
	client := &weblogs.Client{HTTP: h, UserAgent: s.UserAgent}
	p := weblogs.Ping{Name: siteName(cmp.Or(n.Name, n.User)), URL: cmp.Or(n.Home, n.Topic), FeedURL: n.Topic}
	var r weblogs.Result
	var err error
	switch to.Kind {
	case announce.Weblogs:
		r, err = client.Ping(ctx, to.URL, p)
	case announce.WeblogsExtended:
		p.ChangesURL = p.URL
		if s.Changed != nil {
			page, categories := s.Changed(ctx, n.User)
			p.ChangesURL, p.Tags = cmp.Or(page, p.URL), tagsOf(categories)
		}
		r, err = client.ExtendedPing(ctx, to.URL, p)
	default:
		r, err = client.PingByGET(ctx, getURL(to.URL), p)
	}
	if err == nil && r.Err {
		err = fault.New(fault.Refused, "It refused the ping: %s", endpoint.OneLine(r.Message))
	}
	return r.Message, err
}

// getURL is the URL of a sink for GET. Those of old lists that have one place write it
// {0}, and mean the address: a name alone tells nobody anything.
//
// spec:cloudburst#sinks-get
func getURL(address string) string {
	if !strings.Contains(address, "{1}") {
		return strings.ReplaceAll(address, "{0}", "{1}")
	}
	return address
}

// siteName is a name as a ping can have it.
func siteName(s string) string {
	return clip(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "), 200)
}

// failure turns what went wrong into a fault. What its last answer was counts most: a
// refusal by a status that asks for patience is none.
func (s *TargetSender) failure(err error, seen *seeing) error {
	f := &fault.Error{Code: fault.Unreadable, Err: err, Msg: "There was no usable answer."}
	if r, ok := errors.AsType[*fault.Error](err); ok {
		f.Code, f.Msg = r.Code, r.Msg
	} else if seen.status >= 300 {
		f.Msg = "It answered " + endpoint.StatusText(seen.status) + "."
	}
	switch status := seen.status; {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		f.Code = fault.Unreadable
		now := time.Now
		if s.Now != nil {
			now = s.Now
		}
		f.RetryAfter = fetch.RetryAfter(seen.retry, now())
	case status == http.StatusGone:
		f.Code = fault.Gone
	case status >= 300:
		f.Code = fault.Refused
	case status != 0: // 2xx with an answer that says no, or nothing that is known
	case errors.Is(err, context.DeadlineExceeded):
		f.Msg = "There was no answer in time."
	default:
		sinkSilent(err, f)
	}
	return f
}

// sinkSilent says why nothing was answered at all.
func sinkSilent(err error, f *fault.Error) {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		switch e.Kind {
		case fetch.Refused, fetch.BadURL:
			f.Code, f.Msg = fault.Refused, "Its address may not be called from here, or cannot be."
		case fetch.Ours:
			f.Code, f.Msg = fault.Unavailable, "This server could not send it now."
		default:
			f.Msg = "It could not be reached."
		}
	}
	if e, ok := errors.AsType[*weblogs.FieldError](err); ok {
		f.Code, f.Msg = fault.Invalid, e.Msg
	}
	if e, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		f.Msg = "What it answered is no XML-RPC: " + endpoint.OneLine(e.Msg)
	}
}

// seeing remembers the status of the last answer, and when to come again: not every client
// tells both.
type seeing struct {
	http   rsscloud.HTTPClient
	status int
	retry  string
}

func (s *seeing) Do(r *http.Request) (*http.Response, error) {
	s.status, s.retry = 0, ""
	res, err := s.http.Do(r)
	if err == nil {
		s.status, s.retry = res.StatusCode, res.Header.Get("Retry-After")
	}
	return res, err
}
