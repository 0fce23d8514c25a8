package river

import (
	"context"
	"slices"
	"time"

	"cloudburst/feed/feedstate"
	"cloudburst/internal/date"
)

// pushWorks is a state of a hub that said yes, in upstream's words.
const pushWorks = "active"

// followPush asks how it stands with the hubs of a source, and puts into its state since
// when and until when they tell of changes.
func (r checking) followPush(ctx context.Context, s *Source) ([]PushState, error) {
	if r.Push == nil || s.Private() || len(s.PushEndpoints) == 0 && s.State.Push.Since.IsZero() {
		return nil, nil
	}
	states, err := r.Push.State(ctx, s.first(), s.PushEndpoints)
	if err != nil {
		return nil, err
	}
	s.State.Push = pushOf(s.State.Push, states, r.Options.Own != nil && r.Options.Own(s.State.URL))
	return states, nil
}

// pushOf is p with the subscription that these states amount to. Where this server is
// the hub of a feed that it serves itself, every change is announced from the beginning;
// any other hub is trusted after its first announcement.
func pushOf(p feedstate.Push, states []PushState, served bool) feedstate.Push {
	var since, until time.Time
	endless, own := false, false
	for _, st := range states {
		if st.State != pushWorks || st.Since.IsZero() {
			continue
		}
		if since.IsZero() || st.Since.Before(since) {
			since = st.Since
		}
		endless = endless || st.Until.IsZero()
		until = date.Later(until, st.Until)
		own = own || st.Own
	}
	if endless {
		until = time.Time{}
	}
	p.Since, p.Until = since, until
	if own && served && p.Announced == 0 && p.Missed == 0 {
		p.Announced = 1
	}
	return p
}

// askHubs asks by the doors of a source as it is now, where they are not asked yet, and
// leaves those of one that is gone. What fails is tried at the next check.
func (r checking) askHubs(ctx context.Context, was, is *Source, d feedstate.Decision, states []PushState) {
	if r.Push == nil || is.Private() {
		return
	}
	var err error
	switch {
	case d.Gone && len(was.PushEndpoints) > 0:
		err = r.Push.Leave(ctx, was.first())
	case d.Gone:
	case was.Topic != is.Topic && len(is.PushEndpoints) > 0, !sameDoors(was.PushEndpoints, is.PushEndpoints), !asked(is.PushEndpoints, states):
		err = r.Push.Follow(ctx, is.first(), is.Topic, is.PushEndpoints)
	}
	if err != nil {
		r.logger().Warn("the hubs of a feed could not be asked", "source", is.ID, "err", err)
	}
}

func sameDoors(a, b []PushEndpoint) bool { return slices.Equal(a, b) }

// asked reports whether each door has a state.
func asked(doors []PushEndpoint, states []PushState) bool {
	for _, d := range doors {
		if !slices.ContainsFunc(states, func(s PushState) bool { return s.Protocol == d.Protocol && s.Hub == d.Hub }) {
			return false
		}
	}
	return true
}
