package doctor

import (
	"cmp"
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

// ping pings the hubs of the feed, as its author does after a change.
func (x *exam) ping(ctx context.Context) bool {
	if x.d.NoPing {
		x.add(SubjectPing, "ping", Note, "No ping was sent, as requested.", "")
		return true
	}
	if x.d.Hub != "" {
		endpoint, err := rsscloud.PingEndpoint(rsscloud.HTTPPost, x.d.Hub)
		if err != nil {
			x.add(SubjectPing, "ping-rsscloud", Problem, sentence(err), "")
			return true
		}
		x.pingEndpoint(ctx, rsscloud.HTTPPost, endpoint)
		return true
	}
	for _, c := range x.clouds {
		x.pingCloud(ctx, c)
	}
	for _, hub := range x.links.hubs()[:min(len(x.links.hubs()), maxHubs)] {
		if rsscloud.CheckFeedURL(hub) == nil && !slices.Contains(x.pages, hub) { // a hub URL that returns a page would accept the ping too
			x.publish(ctx, hub)
		}
	}
	return true
}

func (x *exam) pingCloud(ctx context.Context, c cloudAt) {
	endpoint, err := c.PingURL()
	if err != nil {
		x.add(SubjectPing, "ping-rsscloud", Note, fmt.Sprintf("The <cloud> of %s names no endpoint for pings. Perhaps the hub checks the feed by itself.", c.Domain), "If you know its ping endpoint:\ncloudburst ping --hub URL "+shellWord(x.feed))
		return
	}
	protocol := c.Protocol
	if protocol == rsscloud.HTTPSPost {
		protocol = rsscloud.HTTPPost
	}
	x.pingEndpoint(ctx, protocol, endpoint)
}

func (x *exam) pingEndpoint(ctx context.Context, protocol, endpoint string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	begun := x.d.now()
	client := rsscloud.Client{HTTP: x, UserAgent: x.d.UserAgent}
	result, err := client.Ping(ctx, protocol, endpoint, x.feed)
	const id = "ping-rsscloud"
	const fix = "Ask the operator of the hub, or ping by hand:\ncloudburst ping "
	switch e, status := errors.AsType[*rsscloud.Error](err); {
	case status && e.RetryAfter > 0:
		x.add(SubjectPing, id, Warning, fmt.Sprintf("%s asks you to wait (%s): %s", endpoint, statusText(e.Status), short(e.Msg, 300)), fmt.Sprintf("Ping again in %s.", span(e.RetryAfter)))
	case status:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s rejects the ping (%s): %s", endpoint, statusText(e.Status), short(e.Msg, 300)), fix+shellWord(x.feed))
	case errors.Is(err, rsscloud.ErrInvalidResponse):
		x.add(SubjectPing, id, Problem, fmt.Sprintf("The response of %s to a ping is not the response of a hub.", endpoint), fix+shellWord(x.feed))
	case err != nil:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("Pinging %s failed: %s.", endpoint, x.d.words(errors.Unwrap(err))), fix+shellWord(x.feed))
	case !result.Success:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s rejects the ping: %s", endpoint, quote(result.Msg)), allowWords(result.Msg, x.feed)+fix+shellWord(x.feed))
	default:
		x.add(SubjectPing, id, OK, fmt.Sprintf("%s accepts the ping%s%s.", endpoint, replied(result.Msg), x.late(begun)), "")
	}
}

// allowWords returns a sentence that suggests the setting for feeds at private addresses.
func allowWords(refusal, feed string) string {
	if !isLocal(hostOf(feed)) || !strings.Contains(refusal, "does not read") {
		return ""
	}
	return "The feed is at a private address. If the hub is yours, add the address to egress.allow-fetch. "
}

func replied(msg string) string {
	if msg == "" {
		return ""
	}
	return " and replies " + quote(msg)
}

// late returns words about a duration above one second; "" for a shorter duration.
func (x *exam) late(begun time.Time) string {
	if d := x.d.now().Sub(begun); d > time.Second {
		return ", after " + span(d)
	}
	return ""
}

// topic returns the URL that WebSub subscribers subscribe to.
func (x *exam) topic() string {
	return cmp.Or(x.links.topic, x.first.url)
}

// publish pings a WebSub hub with the topic of its subscribers.
//
// spec:websub-2018#publisher-notifies-hubs
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
		x.add(SubjectPing, id, OK, fmt.Sprintf("%s accepts the ping for %s%s.", hub, topic, x.late(begun)), "")
	case status && (e.RetryAfter > 0 || e.Status == http.StatusTooManyRequests):
		x.add(SubjectPing, id, Warning, fmt.Sprintf("%s asks you to wait (%s): %s", hub, statusText(e.Status), short(e.Msg, 300)), "Ping again later.")
	case status:
		x.add(SubjectPing, id, Problem, fmt.Sprintf("%s rejects the ping for %s (%s): %s", hub, topic, statusText(e.Status), short(e.Msg, 300)), "Ask the operator of the hub which feeds it accepts and how to ping it.")
	default:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		x.add(SubjectPing, id, Problem, fmt.Sprintf("Pinging %s failed: %s.", hub, x.d.words(err)), "Ask the operator of the hub.")
	}
}
