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

// unread logs a form that could not be read, or that lacks what its door needs.
func (c *RSSCloud) unread(ctx context.Context, err error) {
	r := rsscloud.RequestFrom(ctx)
	kind := event.KindRegister
	switch {
	case strings.HasSuffix(r.URL.Path, "/ping"):
		kind = event.KindPing
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		kind = event.KindCancel
	}
	c.logRejected(ctx, kind, c.callerOf(doorREST, r), "", err)
}

// turnAway has the log show a request that the hub did not hear of, because of what is
// wrong with it. Trouble that is not the caller's is no news of his.
func (c *RSSCloud) logRejected(ctx context.Context, kind string, from caller, topic string, err error) {
	whole := message(err)
	if e, ok := errors.AsType[*rsscloud.Error](err); ok {
		whole = e.Msg
	} else if code(err) != fault.Invalid {
		return
	}
	t := hub.Rejection{Kind: kind, Topic: topic, Text: publicWhy(err, whole), Whole: whole, Via: from.door, Source: from.addr}
	switch kind {
	case event.KindRegister:
		t.Text = "Not registered: " + t.Text
	case event.KindCancel:
		t.Text = "Not cancelled: " + t.Text
	}
	c.Hub.LogRejected(ctx, t)
}

// publicWhy is msg as everybody may read it: the path of a callback is its owner's
// business, and so are a password in a URL and the address of a private feed.
func publicWhy(err error, msg string) string {
	f, ok := errors.AsType[*rsscloud.FieldError](err)
	if !ok {
		return unquoted(msg)
	}
	switch f.Field {
	case "port", "protocol", "domain", "notifyProcedure":
		return msg
	case "url":
		if !strings.ContainsAny(msg, "@") && !strings.Contains(msg, "/private/") {
			return msg
		}
	}
	return unquoted(msg)
}

// unquoted is s without what stands between quotation marks.
func unquoted(s string) string {
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
			i++ // what it quotes ends nothing
		case c == '"':
			inside = false
			if strings.HasPrefix(s[i+1:], "…") { // the mark of a text that was cut
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
