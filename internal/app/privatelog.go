package app

import (
	"context"
	"log/slog"
	"slices"

	"cloudburst/internal/event"
)

// privateLog is a log handler that removes the URLs of private feeds from all log lines of the
// program.
//
// spec:cloudburst#private-topic
type privateLog struct{ slog.Handler }

// withoutPrivate returns a logger whose output contains no URL of a private feed.
func withoutPrivate(log *slog.Logger) *slog.Logger {
	if log == nil {
		return nil
	}
	return slog.New(privateLog{log.Handler()})
}

// Handle implements [slog.Handler].
func (h privateLog) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, event.HidePrivate(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(hidePrivateAttr(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (h privateLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	attrs = slices.Clone(attrs)
	for i, a := range attrs {
		attrs[i] = hidePrivateAttr(a)
	}
	return privateLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h privateLog) WithGroup(name string) slog.Handler { return privateLog{h.Handler.WithGroup(name)} }

func hidePrivateAttr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(event.HidePrivate(v.String()))
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			a.Value = slog.StringValue(event.HidePrivate(err.Error()))
		}
	case slog.KindGroup:
		var all []slog.Attr
		for _, one := range v.Group() {
			all = append(all, hidePrivateAttr(one))
		}
		a.Value = slog.GroupValue(all...)
	}
	return a
}
