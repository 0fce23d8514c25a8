package hubcli

import (
	"net/http"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/protocol/rsscloud"
)

// outcomeClient asks hubs to report the outcome of a ping, and stores the last reported outcome.
type outcomeClient struct {
	http    rsscloud.HTTPClient // client that sends requests; nil: the network
	outcome *rsscloud.Outcome   // last reported outcome; nil: the hub reported no outcome
}

// Do sends a request with the preference for the outcome, and stores the outcome in the response.
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

// timed sends one ping, measures its duration and stores the outcome that the hub reports.
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
