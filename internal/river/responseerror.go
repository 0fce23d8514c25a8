package river

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/river/location"
	"cloudburst/internal/wirehttp"
)

// ErrNeedsLogin is the cause of a refusal that ends if the user enters a login.
var ErrNeedsLogin = errors.New("--login on the command line, login in the API")

// wrongLogin is ErrNeedsLogin for a user who has entered a login.
type wrongLogin struct{ error }

func (wrongLogin) Is(target error) bool { return target == ErrNeedsLogin }

// noAnswer is the cause of a failure in which no server sent a response.
type noAnswer struct{ error }

func (e noAnswer) Unwrap() error { return e.error }

// operatorReason returns the cause of a failed request for operators, who see it after a sentence
// that names the address. nil: the sentence already states the cause.
func operatorReason(err error) error {
	if fetch.KindOf(err) == fetch.TimedOut {
		return errors.New("it took too long")
	}
	return fetch.Cause(err)
}

// noServerAnswered reports whether a request failed because no server sent a response. After such
// a failure, Add may try the other scheme.
func noServerAnswered(err error) bool {
	_, ok := errors.AsType[noAnswer](err)
	return ok
}

// responseError returns an error for users that explains why a response contains no document. It
// returns nil if the response contains one.
func responseError(s *Source, got fetchResult) error {
	where := location.Brief(s.URL)
	if got.err != nil {
		return requestError(where, got.err)
	}
	status := got.res.Status
	reply := strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status)))
	switch {
	case got.res.OK() && !got.res.NotModified:
		return nil
	case status == http.StatusUnauthorized && s.Private():
		return fault.Wrap(fault.Refused, wrongLogin{errors.New("check the name and the secret")}, "The server of %s did not accept the login and answered %s.", where, reply)
	case status == http.StatusUnauthorized:
		return fault.Wrap(fault.Refused, ErrNeedsLogin, "The server of %s requires a login: enter a user name and password, or the kind of login that it requires.", where)
	case status == http.StatusNotFound || status == http.StatusGone:
		return fault.New(fault.NotFound, "There is nothing at %s: its server answered %s.", where, reply)
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		e := fault.New(fault.TooMany, "The server of %s accepts no requests now: its answer was %s.", where, reply)
		if e.RetryAfter = wirehttp.ParseRetryAfter(got.res.Header.Get("Retry-After"), got.at); e.RetryAfter > 0 {
			e.Msg += fmt.Sprintf(" It may be asked again at %s.", got.at.Add(e.RetryAfter).UTC().Format("15:04 MST on 2 January"))
		}
		return e
	}
	return fault.New(fault.Unreadable, "%s could not be read: its server answered %s.", where, reply)
}

func requestError(where string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) { // err is already a complete message, such as no free slot at the host or no key for the login
		return err
	}
	text := strings.TrimSuffix(fetch.Text(err), ".")
	if kind := fetch.KindOf(err); kind == fetch.Unreachable && errors.Is(err, syscall.ECONNREFUSED) {
		text = "could not be read: nothing answers at that address (connection refused)" // ECONNREFUSED means that the fetch guard allows the address but no server listens there
	}
	why := operatorReason(err)
	switch kind := fetch.KindOf(err); kind {
	case fetch.Ours:
		return fault.Wrap(fault.Unavailable, why, "%s could not be read now because of a problem of this server; try again in a minute.", where)
	case fetch.BadURL: // the text of the error is a complete message, so it has no further cause
		return fault.New(fault.Refused, "%s %s.", where, text)
	case fetch.Refused:
		return fault.Wrap(fault.Refused, why, "%s %s.", where, text)
	case fetch.Unreachable, fetch.TLS, fetch.TimedOut, fetch.Malformed:
		return fault.Wrap(fault.Unreadable, noAnswer{why}, "%s %s.", where, text)
	}
	return fault.Wrap(fault.Unreadable, why, "%s %s.", where, text)
}
