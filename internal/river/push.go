package river

import (
	"context"
	"slices"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/date"
)

// pushActive is the state of a confirmed subscription in package upstream.
const pushActive = "active"

// updatePushState queries the states of a source's hubs. It sets the time from which and the time
// until which the hubs push changes.
func (r checker) updatePushState(ctx context.Context, s *Source) ([]PushState, error) {
	if r.Push == nil || s.Private() || len(s.PushEndpoints) == 0 && s.State.Push.Since.IsZero() {
		return nil, nil
	}
	states, err := r.Push.State(ctx, s.originalURL(), s.PushEndpoints)
	if err != nil {
		return nil, err
	}
	s.State.Push = pushOf(s.State.Push, states, r.Options.Own != nil && r.Options.Own(s.State.URL))
	return states, nil
}

// pushOf returns p with the period in which at least one hub pushes. served reports whether this
// server serves the feed. If this server is also a hub of the feed, the river trusts the hub from
// the beginning. The river trusts any other hub after its first push.
func pushOf(p polling.Push, states []PushState, served bool) polling.Push {
	var since, until time.Time
	unlimited, own := false, false
	for _, st := range states {
		if st.State != pushActive || st.Since.IsZero() {
			continue
		}
		if since.IsZero() || st.Since.Before(since) {
			since = st.Since
		}
		unlimited = unlimited || st.Until.IsZero()
		until = date.Later(until, st.Until)
		own = own || st.Own
	}
	if unlimited {
		until = time.Time{}
	}
	p.Since, p.Until = since, until
	if own && served && p.Announced == 0 && p.Missed == 0 {
		p.Announced = 1
	}
	return p
}

// updateHubs subscribes at the endpoints of a source that have no subscription yet. If the source
// is gone, it unsubscribes at the hubs. The next check retries a failure.
func (r checker) updateHubs(ctx context.Context, was, is *Source, d polling.Decision, states []PushState) {
	if r.Push == nil || is.Private() {
		return
	}
	var err error
	switch {
	case d.Gone && len(was.PushEndpoints) > 0:
		err = r.Push.Leave(ctx, was.originalURL())
	case d.Gone:
	case was.Topic != is.Topic && len(is.PushEndpoints) > 0, !sameEndpoints(was.PushEndpoints, is.PushEndpoints), !haveStates(is.PushEndpoints, states):
		err = r.Push.Follow(ctx, is.originalURL(), is.Topic, is.PushEndpoints)
	}
	if err != nil {
		r.logger().Warn("cannot subscribe at the hubs of a feed", "source", is.ID, "err", err)
	}
}

func sameEndpoints(a, b []PushEndpoint) bool { return slices.Equal(a, b) }

// haveStates reports whether states contains a state for each endpoint.
func haveStates(endpoints []PushEndpoint, states []PushState) bool {
	for _, d := range endpoints {
		if !slices.ContainsFunc(states, func(s PushState) bool { return s.Protocol == d.Protocol && s.Hub == d.Hub }) {
			return false
		}
	}
	return true
}
