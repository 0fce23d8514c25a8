package hubhttp

import (
	"context"
	"errors"
	"strings"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/protocol/rsscloud"
)

// logInvalid logs a form that is invalid or lacks a required field.
func (c *RSSCloud) logInvalid(ctx context.Context, err error) {
	r := rsscloud.RequestFrom(ctx)
	kind := event.KindRegister
	switch {
	case strings.HasSuffix(r.URL.Path, "/ping"):
		kind = event.KindPing
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		kind = event.KindCancel
	}
	c.logRejected(ctx, kind, c.callerOf(viaREST, r), "", err)
}

// logRejected logs an invalid request that did not reach the hub. Errors that the client did not
// cause are not logged here.
func (c *RSSCloud) logRejected(ctx context.Context, kind string, from caller, topic string, err error) {
	whole := message(err)
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		whole = e.Msg
	} else if code(err) != fault.Invalid {
		return
	}
	t := hub.Rejection{Kind: kind, Topic: topic, Text: publicReason(err, whole), Whole: whole, Via: from.via, Source: from.addr}
	switch kind {
	case event.KindRegister:
		t.Text = "Not registered: " + t.Text
	case event.KindCancel:
		t.Text = "Not cancelled: " + t.Text
	}
	c.Hub.LogRejected(ctx, t)
}

// publicReason returns msg for the public log. It removes the path of a callback, passwords in URLs
// and the URLs of private feeds.
func publicReason(err error, msg string) string {
	f, ok := errors.AsType[*rsscloud.FieldError](err)
	if !ok {
		return redactQuoted(msg)
	}
	switch f.Field {
	case "port", "protocol", "domain", "notifyProcedure":
		return msg
	case "url":
		if !strings.ContainsAny(msg, "@") && !strings.Contains(msg, "/private/") {
			return msg
		}
	}
	return redactQuoted(msg)
}

// redactQuoted returns s with the text between quotation marks removed.
func redactQuoted(s string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case !inside && c != '"':
			b.WriteByte(c)
		case !inside:
			inside = true
			b.WriteString("…")
		case c == '\\':
			i++ // an escaped character does not end the quotation
		case c == '"':
			inside = false
			if strings.HasPrefix(s[i+1:], "…") { // "…" marks a truncated text
				i += len("…")
			}
		}
	}
	return b.String()
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
