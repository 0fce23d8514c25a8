package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"cloudburst/client"
	"cloudburst/internal/admin"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func protocols() []string {
	return []string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP, hub.WebSub, hub.CNWS}
}

func checkProtocol(p string) error {
	if !slices.Contains(protocols(), p) {
		return fault.New(fault.Invalid, "protocol is %q: it must be one of %s.", cut(p, 100), strings.Join(protocols(), ", "))
	}
	return nil
}

func (s *Server) subscriptions(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, exchange.Paged("topic", "match", "protocol")...)
	q := hub.SubscriptionQuery{Match: p.Text("match"), Protocol: p.Text("protocol"), Limit: p.Limit()}
	if topic := p.Text("topic"); topic != "" {
		q.TopicID = hub.TopicID(topic)
	}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if q.Protocol != "" {
		if err := checkProtocol(q.Protocol); err != nil {
			return err
		}
	}
	if cursor != "" {
		var err error
		if q.After, err = readKey(cursor); err != nil {
			return err
		}
	}
	rows, err := s.Store.Subscriptions(r.Context(), q)
	if err != nil {
		return err
	}
	list := make([]client.Subscription, len(rows))
	for i, row := range rows {
		list[i] = form.Subscription(row.Subscription, row.Topic)
	}
	page := exchange.Page{Name: "subscriptions", Rows: list}
	if len(rows) == q.Limit {
		page.Next = keyText(rows[len(rows)-1].Key())
	}
	return exchange.OK(w, page)
}

// remove ends the subscriptions that have exactly the topic, the callback and the protocol in the
// parameters.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) error {
	p := exchange.ReadParams(r, "topic", "callback", "protocol")
	topic, callback, protocol := p.Text("topic"), p.Text("callback"), p.Text("protocol")
	if p.Err != nil {
		return p.Err
	}
	if topic == "" && callback == "" {
		return fault.New(fault.Invalid, "Set topic, callback or both.")
	}
	if protocol != "" {
		if err := checkProtocol(protocol); err != nil {
			return err
		}
	}
	q := hub.SubscriptionQuery{Match: callback, Protocol: protocol, Limit: exchange.MaxLimit}
	if topic != "" {
		q.TopicID = hub.TopicID(topic)
	}
	removed := []client.Subscription{}
	for {
		rows, err := s.Store.Subscriptions(r.Context(), q)
		if err != nil {
			return err
		}
		names := map[int64]string{}
		var keys []hub.Key
		for _, row := range rows {
			if callback == "" || row.Callback == callback {
				keys = append(keys, row.Key())
				names[row.TopicID] = row.Topic
			}
		}
		if len(keys) > 0 {
			var gone []hub.Subscription
			err := s.audited(r, admin.SubscriptionRemove, cmp.Or(callback, topic), topic, func() (err error) {
				gone, err = s.Hub.Remove(r.Context(), keys, viaCLI)
				return err
			})
			if err != nil {
				return err
			}
			for _, sub := range gone {
				removed = append(removed, form.Subscription(sub, names[sub.TopicID]))
			}
		}
		if len(rows) < exchange.MaxLimit {
			return exchange.OK(w, client.Removed{Removed: removed})
		}
		q.After = rows[len(rows)-1].Key()
	}
}
