package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"cloudburst/protocol/websub"
)

// errRefused is a hub's no. Asking again soon would get the same.
type errRefused struct{ msg string }

func (e errRefused) Error() string { return e.msg }

func refusedf(format string, args ...any) error { return errRefused{fmt.Sprintf(format, args...)} }

// errAgain marks trouble that may pass: the hub could not be reached.
var errAgain = errors.New("the hub may come back")

type againError struct{ error }

func (e againError) Unwrap() []error { return []error{e.error, errAgain} }

// mayPass marks err as trouble that may pass.
func mayPass(err error) error { return againError{err} }

// notTaken is a hub's answer that is no success. msg is a sentence with the status.
func notTaken(hub string, status int, msg string, retry time.Duration) error {
	text := fmt.Sprintf("the hub at %s did not take it: %s", hub, strings.TrimSuffix(short(msg, 600), "."))
	if retry > 0 {
		text += fmt.Sprintf(" (try again in %s)", span(retry))
	}
	if status >= 500 && status != http.StatusNotImplemented || status == http.StatusTooManyRequests {
		return mayPass(errors.New(text))
	}
	return errRefused{text}
}

// unreachable is a hub that gave no whole answer.
func unreachable(hub string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e
	}
	return mayPass(fmt.Errorf("the hub at %s cannot be reached: %w", hub, plainNetError(err)))
}

// badURL says what is wrong with a URL of the command line.
func badURL(name, u string) error {
	err := websub.CheckURL(name, u)
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return usagef("%s", strings.TrimSuffix(e.Msg, "."))
	}
	return err
}

// noHubThere reports the answer of a server that has no hub at that address.
func noHubThere(err error) bool {
	e, ok := errors.AsType[*websub.Error](err)
	return ok && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusNotImplemented}, e.Status)
}

func (p *Program) websubClient() websub.Client {
	return websub.Client{HTTP: p.HTTP, UserAgent: p.agent()}
}

// hubsOf reads a topic for its hubs and its own URL. Errors are sentences.
func (p *Program) hubsOf(ctx context.Context, topic string) (websub.Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, feedTime)
	defer cancel()
	client := p.websubClient()
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

// websubError says what went wrong between us and a hub; it is final or not, as
// errRefused and againError have it.
func websubError(hub string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*websub.Error](err); ok {
		return notTaken(hub, e.Status, e.Msg, e.RetryAfter)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return unreachable(hub, e)
	}
	return refusedf("the hub at %s cannot be asked: %s", hub, strings.TrimPrefix(err.Error(), "websub: "))
}
