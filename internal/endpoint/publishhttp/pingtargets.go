package publishhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"cloudburst/internal/announce"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/websub"
	"cloudburst/protocol/xmlrpc"
)

// TargetSender notifies other servers that a hosted feed was saved. It implements announce.Sender.
type TargetSender struct {
	HTTP      rsscloud.HTTPClient // must be guarded, because users name the ping targets
	UserAgent string
	Now       func() time.Time // nil: time.Now
	// Changed returns the page and categories of the last changed item in a user's public feed;
	// page is "" if unknown. Nil: they are always unknown.
	Changed func(ctx context.Context, user string) (page string, categories []string)
}

// Send pings one target by its protocol.
//
// spec:cloudburst#ping-targets-protocols
func (s *TargetSender) Send(ctx context.Context, to announce.Target, n announce.News) (text string, err error) {
	seen := &statusRecorder{http: s.HTTP}
	switch to.Kind {
	case announce.RSSCloud, announce.RSSCloudRPC:
		text, err = s.cloud(ctx, seen, to, n.Topic)
	case announce.Weblogs, announce.WeblogsExtended, announce.Get:
		text, err = s.weblogs(ctx, seen, to, n)
	case announce.WebSub:
		client := &websub.Client{HTTP: seen, UserAgent: s.UserAgent}
		text, err = "It accepted the ping.", client.Publish(ctx, to.URL, n.Topic)
	default:
		return "", fault.New(fault.Invalid, "This server cannot ping targets of the kind %q.", to.Kind)
	}
	if err != nil {
		return "", s.failure(err, seen)
	}
	if text == "" {
		return "", nil
	}
	return endpoint.OneLine(text), nil
}

// cloud pings an rssCloud hub. If the URL of the hub has no path, the usual path of such hubs is
// used.
//
// spec:rsscloud-2009#ping-rest
// spec:rsscloud-2009#ping-xml-rpc
func (s *TargetSender) cloud(ctx context.Context, h rsscloud.HTTPClient, to announce.Target, topic string) (string, error) {
	protocol, target := rsscloud.HTTPPost, to.URL
	if to.Kind == announce.RSSCloudRPC {
		protocol = rsscloud.XMLRPC
	}
	if u, err := url.Parse(target); err == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == "" {
		if u.Path = "/rsscloud/ping"; protocol == rsscloud.XMLRPC {
			u.Path = "/RPC2"
		}
		target = u.String()
	}
	client := &rsscloud.Client{HTTP: h, UserAgent: s.UserAgent}
	r, err := client.Ping(ctx, protocol, target, topic)
	if err == nil && !r.Success {
		err = fault.New(fault.Refused, "It refused the ping: %s", endpoint.OneLine(r.Msg))
	}
	return r.Msg, err
}

// tagsOf converts categories to the tags of an extended ping, separated by |.
//
// spec:feedstate-2007#ping-extended
func tagsOf(categories []string) []string {
	return weblogs.ParseTags(strings.ReplaceAll(strings.ReplaceAll(strings.Join(categories, "\n"), "|", "/"), "\n", "|"))
}

// weblogs sends a ping that names the site of the feed.
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

// getURL returns the URL of a ping target for GET. Old lists of targets have a single placeholder
// {0}, which is replaced by the URL, because a name alone would be useless.
//
// spec:cloudburst#ping-targets-get
func getURL(address string) string {
	if !strings.Contains(address, "{1}") {
		return strings.ReplaceAll(address, "{0}", "{1}")
	}
	return address
}

// siteName converts a name to a form that is allowed in a ping.
func siteName(s string) string {
	return text.Clip(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "), 200)
}

// failure converts an error to a fault. The status of the last response takes precedence; a status
// that asks for a later attempt is not a refusal.
func (s *TargetSender) failure(err error, seen *statusRecorder) error {
	f := &fault.Error{Code: fault.Unreadable, Err: err, Msg: "The ping target sent no valid response."}
	if r, ok := errors.AsType[*fault.Error](err); ok {
		f.Code, f.Msg = r.Code, r.Msg
	} else if seen.status >= 300 {
		f.Msg = fmt.Sprintf("It answered %s.", wirehttp.StatusText(seen.status))
	}
	switch status := seen.status; {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		f.Code = fault.Unreadable
		now := time.Now
		if s.Now != nil {
			now = s.Now
		}
		f.RetryAfter = wirehttp.ParseRetryAfter(seen.retry, now())
	case status == http.StatusGone:
		f.Code = fault.Gone
	case status >= 300:
		f.Code = fault.Refused
	case status != 0: // status 2xx with a refusal or an unknown response
	case errors.Is(err, context.DeadlineExceeded):
		f.Msg = "There was no answer in time."
	default:
		noResponse(err, f)
	}
	return f
}

// noResponse sets the reason why there was no response.
func noResponse(err error, f *fault.Error) {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		switch e.Kind {
		case fetch.Refused, fetch.BadURL:
			f.Code, f.Msg = fault.Refused, "This server must not or cannot call its URL."
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
		f.Msg = fmt.Sprintf("Its response is not XML-RPC: %s", endpoint.OneLine(e.Msg))
	}
}

// statusRecorder records the status and Retry-After of the last response, because not all clients
// return both.
type statusRecorder struct {
	http   rsscloud.HTTPClient
	status int
	retry  string
}

func (s *statusRecorder) Do(r *http.Request) (*http.Response, error) {
	s.status, s.retry = 0, ""
	res, err := s.http.Do(r)
	if err == nil {
		s.status, s.retry = res.StatusCode, res.Header.Get("Retry-After")
	}
	return res, err
}
