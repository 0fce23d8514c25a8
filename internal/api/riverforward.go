package api

import (
	"strconv"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/river/forward"
)

func (s riverAPI) forwardings(c *riverCall) error {
	rows, err := s.River.Forwardings(c.ctx(), c.reader)
	if err != nil {
		return err
	}
	list := make([]client.Forwarding, len(rows))
	for i := range rows {
		list[i] = form.Forwarding(&rows[i])
	}
	return exchange.OK(c.w, map[string][]client.Forwarding{"notices": list})
}

func (s riverAPI) putForwarding(c *riverCall) error {
	var in client.ForwardingRequest
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	n := forward.Forwarding{Reader: c.reader}
	if in.ID != 0 {
		old, err := s.forwarding(c, in.ID)
		if err != nil {
			return err
		}
		n = old
	}
	for _, text := range []struct {
		name, value string
		limit       int
	}{{"category", in.Category, maxName}, {"target", in.Target, exchange.MaxURL}} {
		if err := exchange.FitText(text.name, text.value, text.limit); err != nil {
			return err
		}
	}
	source, err := s.sourceID(c, in.Source)
	if err != nil {
		return err
	}
	n.SourceID, n.Category, n.Via, n.Target, n.Paused = source, in.Category, in.Via, in.Target, in.Paused
	if in.Secret != nil {
		if err := exchange.FitText("secret", *in.Secret, maxName); err != nil {
			return err
		}
		n.Secret = *in.Secret
	}
	if in.Digest != nil {
		n.Digest = *in.Digest
	} else if n.Via != forward.ViaEmail {
		n.Digest = forward.DigestNone // only forwarding by e-mail has digests
	}
	if n, err = s.River.PutForwarding(c.ctx(), n); err != nil {
		return err
	}
	return exchange.OK(c.w, form.Forwarding(&n))
}

// forwarding returns the user's forwarding with this ID. fault.NotFound: the user has no such
// forwarding.
func (s riverAPI) forwarding(c *riverCall, id int64) (forward.Forwarding, error) {
	rows, err := s.River.Forwardings(c.ctx(), c.reader)
	if err != nil {
		return forward.Forwarding{}, err
	}
	for _, n := range rows {
		if n.ID == id {
			return n, nil
		}
	}
	return forward.Forwarding{}, fault.New(fault.NotFound, "There is no forwarding %s.", strconv.FormatInt(id, 10))
}

func (s riverAPI) dropForwarding(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	err = s.River.DropForwarding(c.ctx(), c.reader, id)
	return exchange.Answer(c.w, removedID{id}, err)
}

func (s riverAPI) tryForwarding(c *riverCall) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	c.allowSlowResponse()
	if err := s.River.TryForwarding(c.ctx(), c.reader, id); err != nil {
		return err
	}
	return exchange.OK(c.w, struct {
		Tried int64 `json:"tried,string"`
	}{id})
}
