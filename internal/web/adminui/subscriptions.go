package adminui

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"cloudburst/internal/account"
	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/web/shell"
)

type subscriptionsView struct {
	view
	Match string
	Rows  []subscriptionRow
	Next  string
	Paged bool
}

type subscriptionRow struct {
	Key, Topic, Callback, Protocol string
	Failures                       int
	Error                          string
	Since, Expires                 shell.Moment
}

func formatKey(k hub.Key) string { return fmt.Sprintf("%d.%d", k.TopicID, k.ID) }

// parseKey reads the result of formatKey; ok is false for other texts.
func parseKey(s string) (k hub.Key, ok bool) {
	n, err := fmt.Sscanf(s, "%d.%d", &k.TopicID, &k.ID)
	return k, err == nil && n == 2 && s == formatKey(k)
}

// subscriptionsPage lists the subscriptions, filtered by a part of the callback or of the topic's URL.
func (s *Pages) subscriptionsPage(rw http.ResponseWriter, r *http.Request, _ account.Session) error {
	v := subscriptionsView{view: s.newView(r, "Subscriptions", "/admin/subscriptions",
		map[string]string{"remove": "The subscription is removed. The subscriber gets no notifications unless it subscribes again."})}
	v.Wide = true
	query := r.URL.Query()
	v.Match = shell.CleanText(strings.TrimSpace(query.Get("q")), 500)
	q := hub.SubscriptionQuery{Match: v.Match, Limit: rowsPerPage + 1}
	if k, ok := parseKey(query.Get("after")); ok {
		q.After, v.Paged = k, true
	}
	rows, err := s.Subscriptions.Subscriptions(r.Context(), q)
	if err != nil {
		return err
	}
	if len(rows) > rowsPerPage {
		rows = rows[:rowsPerPage]
		v.Next = "/admin/subscriptions?" + url.Values{"q": {v.Match}, "after": {formatKey(rows[len(rows)-1].Key())}}.Encode()
	}
	for _, one := range rows {
		v.Rows = append(v.Rows, subscriptionRow{formatKey(one.Key()), shell.CleanText(one.Topic, 2048), shell.CleanText(one.Callback, 2048), shell.ProtocolName(one.Protocol),
			one.Failures, shell.CleanText(one.LastError, 300), v.When(one.CreatedAt), v.When(one.ExpiresAt)})
	}
	return s.Render(rw, r, http.StatusOK, "adminsubscriptions", v)
}

// doRemoveSubscription removes a subscription after confirmation.
func (s *Pages) doRemoveSubscription(rw http.ResponseWriter, r *http.Request, session account.Session, field fields) error {
	key, ok := parseKey(field("key"))
	if !ok {
		return fault.New(fault.Invalid, "The form does not name a subscription. Open the list and choose one.")
	}
	topic, callback := shell.CleanText(field("topic"), 2048), shell.CleanText(field("callback"), 2048)
	if field("sure") == "" {
		return s.AskFirst(rw, r, "Remove this subscription?", shell.Question{
			Lines: []string{s.Locale(r).Say("%s gets no more notifications about %s.", callback, topic),
				"This cannot be undone here, but the subscriber can subscribe again. To prevent that, block its host."},
			Action: "/admin/subscriptions/remove", Button: "Remove", Back: "/admin/subscriptions",
			Fields: []shell.NamedValue{{Name: "key", Value: field("key")}, {Name: "topic", Value: topic}, {Name: "callback", Value: callback}},
		})
	}
	err := s.Admin.Do(r.Context(), s.actor(r, session), admin.SubscriptionRemove, callback, topic, func() error {
		gone, err := s.Hub.Remove(r.Context(), []hub.Key{key}, "web")
		if err == nil && len(gone) == 0 {
			err = fault.New(fault.NotFound, "There is no such subscription any more.")
		}
		return err
	})
	if err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/admin/subscriptions?done=remove")
}
