package cli

import (
	"fmt"
	"net/http"
	"time"

	"cloudburst/protocol/rsscloud"
)

// outcomeClient asks hubs what a ping leads to, and keeps the last answer.
type outcomeClient struct {
	http    rsscloud.HTTPClient // nil: the network
	outcome *rsscloud.Outcome   // nil: the hub does not say
}

// Do sends r.
func (c *outcomeClient) Do(r *http.Request) (*http.Response, error) {
	r.Header.Add("Prefer", rsscloud.OutcomePreference)
	h := c.http
	if h == nil {
		client := &http.Client{Timeout: 30 * time.Second}
		if r.Method != http.MethodGet {
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		h = client
	}
	res, err := h.Do(r)
	if err == nil {
		if o, ok := rsscloud.OutcomeOf(res.Header); ok {
			c.outcome = &o
		}
	}
	return res, err
}

// timed does one ping, takes its time and keeps what the hub says of its outcome.
func (g *pinging) timed(feed, door string, do func(h rsscloud.HTTPClient) (ok bool, msg string, err error)) pinged {
	c := &outcomeClient{http: g.p.HTTP}
	out := timed(feed, door, func() (bool, string, error) { return do(c) })
	if c.outcome != nil && out.Success {
		out.Outcome, out.Page = c.outcome.State, c.outcome.Page
		if c.outcome.Subscribers >= 0 {
			out.Subscribers = &c.outcome.Subscribers
		}
	}
	return out
}

// notifiedWords says how many subscribers are notified; nil: the hub did not say.
func notifiedWords(n *int64) string {
	switch {
	case n == nil:
		return "its subscribers are notified"
	case *n == 0:
		return "nobody is subscribed any more"
	case *n == 1:
		return "1 subscriber is notified"
	}
	return fmt.Sprintf("%d subscribers are notified", *n)
}

// outcomeWords says what a ping led to; "": the hub did not say.
func (p *pinged) outcomeWords() string {
	text := ""
	switch p.Outcome {
	case rsscloud.OutcomeChanged:
		text = "The feed had changed, and " + notifiedWords(p.Subscribers) + "."
	case rsscloud.OutcomeUnchanged:
		text = "The feed is the same as at the last check, byte for byte: nobody is notified."
	case rsscloud.OutcomePending:
		text = "The feed takes long to read. The ping is stored, and the check goes on."
	case rsscloud.OutcomeNobody:
		text = "Nobody is subscribed to this feed at this hub, so nobody is notified."
	case rsscloud.OutcomeChecking:
		text = "The change is listed, and the hub checks the feeds of this site that have subscribers."
	case rsscloud.OutcomeListed:
		text = "The change is listed. Nobody is subscribed to a feed of this site at this hub."
	default:
		return ""
	}
	if p.Page != "" {
		text += " See " + p.Page
	}
	return text
}
