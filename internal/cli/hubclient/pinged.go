package hubclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"
)

// PingResult is what became of one ping, as --json prints it.
type PingResult struct {
	Feed    string  `json:"feed"`
	Via     string  `json:"door,omitempty"`
	Success bool    `json:"success"`
	Msg     string  `json:"msg"`
	TookMS  float64 `json:"took_ms"`

	// What the hub says of the outcome, where it does.
	Outcome     string `json:"outcome,omitempty"` // a state of rsscloud.Outcome
	Subscribers *int64 `json:"subscribers,omitempty"`
	Page        string `json:"page,omitempty"` // URL of a page about the feed

	Failed bool `json:"-"` // it is not that somebody said no
}

// TimePing does one ping and takes its time.
func TimePing(feed, endpoint string, do func() (ok bool, msg string, err error)) PingResult {
	out := PingResult{Feed: feed, Via: endpoint}
	begun := time.Now()
	var err error
	out.Success, out.Msg, err = do()
	out.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	switch {
	case err != nil:
		out.Success, out.Msg, out.Failed = false, shell.Sentence(HubError(endpoint, err)), true
	case out.Success && out.Msg == "":
		out.Msg = "The hub accepted the ping." // over xml-rpc and soap the answer is only true
	}
	return out
}

// PrintPing prints what became of one ping.
func (p *Client) PrintPing(out PingResult, asJSON bool) error {
	switch {
	case asJSON:
		return shell.JSONLines(p.Out).Encode(out)
	case out.Success:
		_, err := fmt.Fprintf(p.Out, "%s  %s  (%s by %s)\n", shell.Clean(out.Feed), shell.Clean(out.Msg), shell.FormatDuration(time.Duration(out.TookMS*float64(time.Millisecond))), shell.Clean(out.Via))
		if words := out.outcomeWords(); words != "" && err == nil {
			_, err = fmt.Fprintf(p.Out, "  %s\n", shell.Clean(words))
		}
		return err
	case out.Failed:
		fmt.Fprintf(p.Err, "cloudburst: %s\n", ExplainRefusal(out.Msg, out.Feed))
	default:
		fmt.Fprintf(p.Err, "cloudburst: %s refused the ping of %s: %s\n", shell.Clean(out.Via), shell.Clean(out.Feed), shell.Clean(ExplainRefusal(out.Msg, out.Feed)))
	}
	return nil
}

// HubError says what went wrong between us and a hub.
func HubError(endpoint string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the hub at %s cannot be reached: %w", endpoint, e.Err)
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		if e.RetryAfter > 0 {
			return fmt.Errorf("the hub at %s answers %d: %s (try again in %s)", endpoint, e.Status, e.Msg, shell.FormatDuration(e.RetryAfter))
		}
		return fmt.Errorf("the hub at %s answers %d: %s", endpoint, e.Status, e.Msg)
	}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		return fmt.Errorf("the hub at %s answers %d %s", endpoint, e.Status, http.StatusText(e.Status))
	}
	if errors.Is(err, rsscloud.ErrInvalidResponse) {
		return fmt.Errorf("%s does not answer like an rssCloud hub", endpoint)
	}
	if e, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		return fmt.Errorf("%s does not answer like a server for pings: %s", endpoint, e.Msg)
	}
	if errors.Is(err, weblogs.ErrInvalidResponse) {
		return fmt.Errorf("%s does not answer like a server for pings", endpoint)
	}
	if e, ok := errors.AsType[*weblogs.FieldError](err); ok {
		return errors.New(e.Msg)
	}
	return err
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
func (p *PingResult) outcomeWords() string {
	text := ""
	switch p.Outcome {
	case rsscloud.OutcomeChanged:
		text = "The feed had changed, and " + notifiedWords(p.Subscribers) + "."
	case rsscloud.OutcomeUnchanged:
		text = "The feed is the same as at the last check, byte for byte: nobody is notified."
	case rsscloud.OutcomePending:
		text = "The feed takes long to read. The ping is stored, and the check goes on."
	case rsscloud.OutcomeNoSubscribers:
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
