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

// RefusedError is a hub's no. Asking again soon would get the same.
type RefusedError struct{ msg string }

// Error is the message of the hub.
func (e RefusedError) Error() string { return e.msg }

// Refusedf makes a RefusedError from a format.
func Refusedf(format string, args ...any) error { return RefusedError{fmt.Sprintf(format, args...)} }

// ErrTemporary marks trouble that may pass: the hub could not be reached.
var ErrTemporary = errors.New("the hub may come back")

type againError struct{ error }

func (e againError) Unwrap() []error { return []error{e.error, ErrTemporary} }

// Temporary marks err as trouble that may pass.
func Temporary(err error) error { return againError{err} }

// Rejected is a hub's answer that is no success. msg is a sentence with the status.
func Rejected(hub string, status int, msg string, retry time.Duration) error {
	text := fmt.Sprintf("the hub at %s did not take it: %s", hub, strings.TrimSuffix(shell.Clip(msg, 600), "."))
	if retry > 0 {
		text += fmt.Sprintf(" (try again in %s)", shell.FormatDuration(retry))
	}
	if status >= 500 && status != http.StatusNotImplemented || status == http.StatusTooManyRequests {
		return Temporary(errors.New(text))
	}
	return RefusedError{text}
}

// Unreachable is a hub that gave no whole answer.
func Unreachable(hub string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e
	}
	return Temporary(fmt.Errorf("the hub at %s cannot be reached: %w", hub, shell.PlainNetError(err)))
}

// CheckURL says what is wrong with a URL of the command line.
func CheckURL(name, u string) error {
	err := websub.CheckURL(name, u)
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return shell.Usagef("%s", strings.TrimSuffix(e.Msg, "."))
	}
	return err
}

// IsNoHub reports the answer of a server that has no hub at that address.
func IsNoHub(err error) bool {
	e, ok := errors.AsType[*websub.Error](err)
	return ok && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusNotImplemented}, e.Status)
}

// WebSubClient calls hubs of WebSub.
func (p *Client) WebSubClient() websub.Client {
	return websub.Client{HTTP: p.HTTP, UserAgent: p.UserAgent()}
}

// FindHubs reads a topic for its hubs and its own URL. Errors are sentences.
func (p *Client) FindHubs(ctx context.Context, topic string) (websub.Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, shell.FeedTimeout)
	defer cancel()
	client := p.WebSubClient()
	d, err := client.Discover(ctx, topic)
	if err == nil {
		return d, nil
	}
	if errors.Is(err, websub.ErrNoHub) {
		return d, fmt.Errorf("%s names no hub: its Link headers and its links were looked at for rel=\"hub\"; name one with --hub", topic)
	}
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return d, answeredWith(topic, e.Status)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return d, unanswered(topic, e)
	}
	if inner := errors.Unwrap(err); inner != nil {
		return d, unanswered(topic, inner)
	}
	return d, fmt.Errorf("%s cannot be read: %s", topic, strings.TrimPrefix(err.Error(), "websub: "))
}

// WebSubError says what went wrong between us and a hub; it is final or not, as
// RefusedError and ErrTemporary have it.
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
	return Refusedf("the hub at %s cannot be asked: %s", hub, strings.TrimPrefix(err.Error(), "websub: "))
}
