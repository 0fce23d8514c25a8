package cli

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// cnwsWay is CNWS.
type cnwsWay struct{ l *listener }

func newCNWSWay(l *listener) *cnwsWay { return &cnwsWay{l} }

func (w *cnwsWay) handler() http.Handler { return http.NotFoundHandler() }

func (w *cnwsWay) register(context.Context, *followed) (registered, error) {
	return registered{}, errors.New("not yet")
}

func (w *cnwsWay) cancel(context.Context, *followed) record { return record{} }

// silence is how long a hub may have nothing to tell before it is asked again.
//
// spec:cnws-2003#confirm-after-30-days
const silence = 30 * 24 * time.Hour
