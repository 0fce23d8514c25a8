package hubclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/websub"
)

// RefusedError means that a hub rejected a request. A repeated request would fail too.
type RefusedError struct{ msg string }

// Error returns the message of the hub.
func (e RefusedError) Error() string { return e.msg }

// Refusedf returns a RefusedError with a formatted message.
func Refusedf(format string, args ...any) error { return RefusedError{fmt.Sprintf(format, args...)} }

// ErrTemporary is in the chain of errors after which a later attempt may succeed.
var ErrTemporary = errors.New("the hub is temporarily unavailable")

type againError struct{ error }

func (e againError) Unwrap() []error { return []error{e.error, ErrTemporary} }

// Temporary marks err with ErrTemporary.
func Temporary(err error) error { return againError{err} }

// Rejected returns the error for a response with an error status. msg is a sentence that contains
// the status. retry is the time after which the hub accepts a new attempt; 0: unknown.
func Rejected(hub string, status int, msg string, retry time.Duration) error {
	text := fmt.Sprintf("the hub at %s rejected the request: %s", hub, strings.TrimSuffix(shell.Clip(msg, 600), "."))
	if retry > 0 {
		text += fmt.Sprintf(" (try again in %s)", shell.FormatDuration(retry))
	}
	if status >= 500 && status != http.StatusNotImplemented || status == http.StatusTooManyRequests {
		return Temporary(errors.New(text))
	}
	return RefusedError{text}
}

// Unreachable returns the error for a hub that sent no complete response.
func Unreachable(hub string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e
	}
	return Temporary(fmt.Errorf("the hub at %s cannot be reached: %w", hub, shell.PlainNetError(err)))
}

// CheckURL validates a URL in the command line. name is the flag or the argument that contains the
// URL.
func CheckURL(name, u string) error {
	err := websub.CheckURL(name, u)
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return shell.Usagef("%s", strings.TrimSuffix(e.Msg, "."))
	}
	return err
}

// IsNoHub reports whether err means that the server at a URL has no hub.
func IsNoHub(err error) bool {
	e, ok := errors.AsType[*websub.Error](err)
	return ok && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusNotImplemented}, e.Status)
}

// WebSubClient returns a client for WebSub hubs.
func (p *Client) WebSubClient() websub.Client {
	return websub.Client{HTTP: p.HTTP, UserAgent: p.UserAgent()}
}

// FindHubs reads a topic and returns its hubs and its canonical URL. Errors are sentences for
// users.
func (p *Client) FindHubs(ctx context.Context, topic string) (websub.Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	client := p.WebSubClient()
	d, err := client.Discover(ctx, topic)
	if err == nil {
		return d, nil
	}
	if errors.Is(err, websub.ErrNoHub) {
		return d, fmt.Errorf("%s names no hub: its Link headers and links contain no rel=\"hub\"; set one with --hub", topic)
	}
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return d, errorStatus(topic, e.Status)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return d, noResponse(topic, e)
	}
	if inner := errors.Unwrap(err); inner != nil {
		return d, noResponse(topic, inner)
	}
	return d, fmt.Errorf("%s cannot be read: %s", topic, strings.TrimPrefix(err.Error(), "websub: "))
}

// WebSubError returns a plain error for a failed request to a hub. It is a RefusedError or has
// ErrTemporary in its chain.
func WebSubError(hub string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return Rejected(hub, e.Status, e.Msg, e.RetryAfter)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return Unreachable(hub, e)
	}
	return Refusedf("the request to the hub at %s failed: %s", hub, strings.TrimPrefix(err.Error(), "websub: "))
}
