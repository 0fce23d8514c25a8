package hubcli

import (
	"net/http"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/protocol/rsscloud"
)

// outcomeClient requests the outcome of a ping from hubs, and stores the last answer.
type outcomeClient struct {
	http    rsscloud.HTTPClient // nil: the network
	outcome *rsscloud.Outcome   // nil: the hub does not report it
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

// timed sends one ping, measures its duration and stores the reported outcome.
func (g *pinging) timed(feed, endpoint string, do func(h rsscloud.HTTPClient) (ok bool, msg string, err error)) hubclient.PingResult {
	c := &outcomeClient{http: g.p.HTTP}
	out := hubclient.TimePing(feed, endpoint, func() (bool, string, error) { return do(c) })
	if c.outcome != nil && out.Success {
		out.Outcome, out.Page = c.outcome.State, c.outcome.Page
		if c.outcome.Subscribers >= 0 {
			out.Subscribers = &c.outcome.Subscribers
		}
	}
	return out
}
