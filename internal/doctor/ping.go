package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// ping tells the feed's hubs of it, as its author does after a change.
func (x *exam) ping(ctx context.Context) bool {
	if x.d.NoPing {
		x.add(SubjectPing, "ping", Note, "No hub was told of the feed, as was asked for.", "")
		return true
	}
	if x.d.Hub != "" {
		door, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, x.d.Hub)
		if err != nil {
			x.add(SubjectPing, "ping-rsscloud", Problem, sentence(err), "")
			return true
		}
		x.pingDoor(ctx, rsscloud.HTTPPost, door)
		return true
	}
	for _, c := range x.clouds {
		x.pingCloud(ctx, c)
	}
	for _, hub := range x.links.hubs()[:min(len(x.links.hubs()), maxHubs)] {
		if rsscloud.CheckFeedURL(hub) == nil && !slices.Contains(x.pages, hub) { // a page would take it too
			x.publish(ctx, hub)
		}
	}
	return true
}

func (x *exam) pingCloud(ctx context.Context, c cloudAt) {
	door, err := c.PingURL()
	if err != nil {
		x.add(SubjectPing, "ping-rsscloud", Note, fmt.Sprintf("The <cloud> does not say where %s takes pings: it may watch the feed itself.", c.Domain), "If you know its door for pings:\ncloudburst ping --hub URL "+shellWord(x.feed))
		return
	}
	protocol := c.Protocol
	if protocol == rsscloud.HTTPSPost {
		protocol = rsscloud.HTTPPost
	}
	x.pingDoor(ctx, protocol, door)
}

func (x *exam) pingDoor(ctx context.Context, protocol, door string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	begun := x.d.now()
	client := rsscloud.Client{HTTP: x, UserAgent: x.d.UserAgent}
	result, err := client.Ping(ctx, protocol, door, x.feed)
	const id = "ping-rsscloud"
	const fix = "Ask the operator of the hub, or try it by hand:\ncloudburst ping "
	switch e, status := errors.AsType[*rsscloud.Error](err); {
	case status && e.RetryAfter > 0:
		x.add(SubjectPing, id, Warning, fmt.Sprintf("%s asks for patience (%s): %s", door, statusText(e.Status), short(e.Msg, 300)), fmt.Sprintf("Ping again in %s.", span(e.RetryAfter)))
	case status:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s does not take the ping (%s): %s", door, statusText(e.Status), short(e.Msg, 300)), fix+shellWord(x.feed))
	case errors.Is(err, rsscloud.ErrInvalidResponse):
		x.add(SubjectPing, id, Problem, fmt.Sprintf("What %s answers to a ping is nothing that a hub says.", door), fix+shellWord(x.feed))
	case err != nil:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s cannot be told: %s.", door, x.d.words(errors.Unwrap(err))), fix+shellWord(x.feed))
	case !result.Success:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s refuses the ping: %s", door, quote(result.Msg)), allowWords(result.Msg, x.feed)+fix+shellWord(x.feed))
	default:
		x.add(SubjectPing, id, OK, fmt.Sprintf("%s takes the ping%s%s.", door, said(result.Msg), x.late(begun)), "")
	}
}

// allowWords names the setting that lets a hub of this program read a private address.
func allowWords(refusal, feed string) string {
	if !isLocal(hostOf(feed)) || !strings.Contains(refusal, "does not read") {
		return ""
	}
	return "The feed is at a private address: if the hub is yours, list that address in egress.allow-fetch. "
}

func said(msg string) string {
	if msg == "" {
		return ""
	}
	return " and says " + quote(msg)
}

// late says how long something took, when it is worth saying.
func (x *exam) late(begun time.Time) string {
	if d := x.d.now().Sub(begun); d > time.Second {
		return ", after " + span(d)
	}
	return ""
}

// topic is the address that WebSub's subscribers ask for.
func (x *exam) topic() string {
	if x.links.topic != "" {
		return x.links.topic
	}
	return x.first.url
}

// publish tells a WebSub hub, by the address that subscribers ask for.
//
// spec:websub-2018#publisher-tells-hubs
func (x *exam) publish(ctx context.Context, hub string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	topic := x.topic()
	begun := x.d.now()
	client := websub.Client{HTTP: x, UserAgent: x.d.UserAgent}
	err := client.Publish(ctx, hub, topic)
	const id = "ping-websub"
	e, status := errors.AsType[*websub.Error](err)
	switch {
	case err == nil:
		x.add(SubjectPing, id, OK, fmt.Sprintf("%s takes the news of %s%s.", hub, topic, x.late(begun)), "")
	case status && (e.RetryAfter > 0 || e.Status == http.StatusTooManyRequests):
		x.add(SubjectPing, id, Warning, fmt.Sprintf("%s asks for patience (%s): %s", hub, statusText(e.Status), short(e.Msg, 300)), "Tell it again later.")
	case status:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s does not take the news of %s (%s): %s", hub, topic, statusText(e.Status), short(e.Msg, 300)), "Ask the operator of the hub which feeds it takes, and how it is told.")
	default:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s cannot be told: %s.", hub, x.d.words(err)), "Ask the operator of the hub.")
	}
}
