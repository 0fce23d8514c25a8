package river

import (
	"context"
	"errors"
	"slices"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
)

// cnws is the protocol whose hubs no feed declares: a user sets the hub of a feed.
const cnws = "cnws"

// SetCNWS subscribes at a CNWS hub to the changes of a feed that the user follows. An empty hub
// ends the subscription. The hub is contacted soon after SetCNWS returns. Errors: fault.NotFound:
// the user does not follow the feed; Invalid: the URL of the hub is not valid; Refused: the hub
// is this server, or the feed has a login and no hub may learn about it; Unavailable.
//
// spec:cnws-2003#subscribe
func (r *River) SetCNWS(ctx context.Context, user string, source int64, hub string) (Followed, error) {
	r.Init()
	f, err := r.findFollowed(ctx, user, source)
	if err != nil {
		return Followed{}, err
	}
	if hub != "" && item.WebURL(hub) == "" {
		return Followed{}, fault.New(fault.Invalid, "Invalid CNWS hub %s: its URL must begin with http:// or https://.", location.Brief(hub))
	}
	switch {
	case r.Push == nil:
		return Followed{}, fault.New(fault.Unavailable, "This server does not subscribe at hubs.")
	case f.Source.Private():
		return Followed{}, fault.New(fault.Refused, "The feed %s needs a login, so no hub may learn about it.", location.Brief(f.Source.URL))
	}
	s, err := r.Store.ChangeSource(ctx, source, func(s *Source) error {
		s.PushEndpoints = slices.DeleteFunc(slices.Clone(s.PushEndpoints), isCNWS)
		if hub != "" {
			s.PushEndpoints = append(s.PushEndpoints, PushEndpoint{Protocol: cnws, Hub: item.WebURL(hub)})
		}
		s.State.Push = polling.Push{} // polled as without a hub until the next check, which asks the hubs
		return nil
	})
	if err != nil {
		return Followed{}, err
	}
	if err := errors.Join(r.Push.Follow(ctx, s.originalURL(), s.Topic, s.PushEndpoints), editor{r}.replan(ctx, source)); err != nil {
		return Followed{}, err
	}
	return r.findFollowed(ctx, user, source)
}

func isCNWS(d PushEndpoint) bool { return d.Protocol == cnws }

// cnwsEndpoints returns the CNWS endpoints, which a user set and no document of the feed
// declares.
func cnwsEndpoints(endpoints []PushEndpoint) (out []PushEndpoint) {
	for _, d := range endpoints {
		if isCNWS(d) {
			out = append(out, d)
		}
	}
	return out
}
