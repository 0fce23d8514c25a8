package cli

import (
	"context"
	"errors"
	"net/http"
)

// subscribed is a subscription by WebSub.
type subscribed struct{}

// webSubWay is WebSub.
type webSubWay struct{ l *listener }

func newWebSubWay(l *listener) *webSubWay { return &webSubWay{l} }

func (w *webSubWay) handler() http.Handler { return http.NotFoundHandler() }

func (w *webSubWay) register(context.Context, *followed) (registered, error) {
	return registered{}, errors.New("not yet")
}

func (w *webSubWay) cancel(context.Context, *followed) record { return record{} }
