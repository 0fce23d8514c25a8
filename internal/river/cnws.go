package river

import (
	"context"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river/item"
	"cloudburst/internal/river/location"
)

// cnws is the protocol whose hubs no feed names: somebody says which there is.
const cnws = "cnws"

// SetCNWS has a CNWS hub asked to tell of the changes of a feed that the reader follows; "" ends
// it. The hub is asked soon after. fault.NotFound, Invalid, Refused (a feed with a login, of
// which no hub hears; or the hub is this server), Unavailable.
//
// spec:cnws-2003#subscribe
func (r *River) SetCNWS(ctx context.Context, reader string, source int64, hub string) (Followed, error) {
	r.Init()
	f, err := r.findFollowed(ctx, reader, source)
	if err != nil {
		return Followed{}, err
	}
	if hub != "" && item.WebURL(hub) == "" {
		return Followed{}, fault.New(fault.Invalid, "The CNWS hub is %s: it needs an address with http:// or https://.", location.Brief(hub))
	}
	switch {
	case r.Push == nil:
		return Followed{}, fault.New(fault.Unavailable, "This server asks no hubs.")
	case f.Source.Private():
		return Followed{}, fault.New(fault.Refused, "The feed %s is read with a login: no hub hears of it.", location.Brief(f.Source.URL))
	}
	s, err := r.Store.ChangeSource(ctx, source, func(s *Source) error {
		s.PushEndpoints = slices.DeleteFunc(slices.Clone(s.PushEndpoints), isCNWS)
		if hub != "" {
			s.PushEndpoints = append(s.PushEndpoints, PushEndpoint{Protocol: cnws, Hub: item.WebURL(hub)})
		}
		return nil
	})
	if err != nil {
		return Followed{}, err
	}
	if err := r.Push.Follow(ctx, s.originalURL(), s.Topic, s.PushEndpoints); err != nil {
		return Followed{}, err
	}
	return r.findFollowed(ctx, reader, source)
}

func isCNWS(d PushEndpoint) bool { return d.Protocol == cnws }

// namedByHand are the doors of a source that its document does not speak of.
func cnwsEndpoints(endpoints []PushEndpoint) (out []PushEndpoint) {
	for _, d := range endpoints {
		if isCNWS(d) {
			out = append(out, d)
		}
	}
	return out
}
