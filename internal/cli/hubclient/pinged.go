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

// PingResult is the result of one ping, as --json prints it.
type PingResult struct {
	Feed    string  `json:"feed"`
	Via     string  `json:"door,omitempty"`
	Success bool    `json:"success"`
	Msg     string  `json:"msg"`
	TookMS  float64 `json:"took_ms"`

	// Outcome and the following fields are set only if the hub reports the outcome of the ping.
	Outcome     string `json:"outcome,omitempty"` // state of the ping, as in rsscloud.Outcome
	Subscribers *int64 `json:"subscribers,omitempty"`
	Page        string `json:"page,omitempty"` // URL of a page about the feed

	Failed bool `json:"-"` // the ping reached no hub; false if the hub rejected the ping
}

// TimePing calls do, which sends one ping, and measures its duration.
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
		out.Msg = "The hub accepted the ping." // XML-RPC and SOAP responses have no message
	}
	return out
}

// PrintPing prints the result of one ping.
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

// HubError returns a plain error for a failed request to a hub.
func HubError(endpoint string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the hub at %s cannot be reached: %w", endpoint, e.Err)
	}
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		if e.RetryAfter > 0 {
			return fmt.Errorf("the hub at %s returned %d: %s (try again in %s)", endpoint, e.Status, e.Msg, shell.FormatDuration(e.RetryAfter))
		}
		return fmt.Errorf("the hub at %s returned %d: %s", endpoint, e.Status, e.Msg)
	}
	if e, ok := errors.AsType[*xmlrpc.HTTPError](err); ok {
		return fmt.Errorf("the hub at %s returned %d %s", endpoint, e.Status, http.StatusText(e.Status))
	}
	if errors.Is(err, rsscloud.ErrInvalidResponse) {
		return fmt.Errorf("%s did not respond like an rssCloud hub", endpoint)
	}
	if e, ok := errors.AsType[*xmlrpc.SyntaxError](err); ok {
		return fmt.Errorf("%s did not respond like a ping server: %s", endpoint, e.Msg)
	}
	if errors.Is(err, weblogs.ErrInvalidResponse) {
		return fmt.Errorf("%s did not respond like a ping server", endpoint)
	}
	if e, ok := errors.AsType[*weblogs.FieldError](err); ok {
		return errors.New(e.Msg)
	}
	return err
}

// notifiedWords describes the number of notified subscribers; nil: unknown.
func notifiedWords(n *int64) string {
	switch {
	case n == nil:
		return "its subscribers are notified"
	case *n == 0:
		return "it no longer has subscribers"
	case *n == 1:
		return "1 subscriber is notified"
	}
	return fmt.Sprintf("%d subscribers are notified", *n)
}

// outcomeWords describes the outcome of a ping; "": the outcome is unknown.
func (p *PingResult) outcomeWords() string {
	text := ""
	switch p.Outcome {
	case rsscloud.OutcomeChanged:
		text = "The feed had changed, and " + notifiedWords(p.Subscribers) + "."
	case rsscloud.OutcomeUnchanged:
		text = "The feed has not changed since the last check: the hub notifies no subscribers."
	case rsscloud.OutcomePending:
		text = "Reading the feed takes long. The hub has stored the ping and continues the check."
	case rsscloud.OutcomeNoSubscribers:
		text = "The feed has no subscribers at this hub."
	case rsscloud.OutcomeChecking:
		text = "The change is listed, and the hub checks the feeds of this site that have subscribers."
	case rsscloud.OutcomeListed:
		text = "The change is listed. No feed of this site has subscribers at this hub."
	default:
		return ""
	}
	if p.Page != "" {
		text += " See " + p.Page
	}
	return text
}
