package forwardui

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/web/feedview"
	"cloudburst/internal/web/locale"
	"cloudburst/internal/web/shell"
	"cloudburst/protocol/rsscloud"
)

type listView struct {
	pageView
	Rows []listRow
	Form formView
}

// listRow is a recipient of forwarded items.
type listRow struct {
	ID       string
	What     string // forwarded items
	Via      string
	Target   string
	Badge    feedview.Badge
	Sent     locale.Text
	Last     shell.Moment
	Problem  string
	Next     shell.Moment
	Paused   bool
	Waiting  bool // the recipient has not confirmed yet
	Ended    bool // the recipient has unsubscribed
	Signed   bool
	TryError string
	Digests  []digestChoice // how often a mailbox receives mails, as choices of a menu
}

// formView holds the values of the form for a new recipient. A secret is never written back into
// a page.
type formView struct {
	What        string // forwarded items: "" for all, "c:" and a category, or "s:" and the ID of a feed
	Categories  []string
	Sources     []feedChoice
	More        bool // the menu does not have all feeds
	Via         string
	Vias        []viaChoice
	Target      string
	Digests     []digestChoice
	TargetError string
	Error       string
}

type feedChoice struct{ ID, Name string }

// maxSources is the maximum number of feeds in the menu. To forward another feed, the user opens the
// form from the page of the feed.
const maxSources = 100

// maxCategories is the maximum number of categories in the menu.
const maxCategories = 200

// viaChoice is a way to send items, in the menu of the form.
type viaChoice struct{ Value, Text string }

func viaChoices() []viaChoice {
	return []viaChoice{{forward.ViaWebhook, "JSON to a program (webhook)"}, {forward.ViaEmail, "e-mail to a person"}, {forward.ViaPost, "a form to a program (POST)"}, {forward.ViaMastodon, "a status to Mastodon"}}
}

// listPage lists the recipients of forwarded items.
func (s *Pages) listPage(rw http.ResponseWriter, r *http.Request, reader string) error {
	return s.showList(rw, r, reader, http.StatusOK, func(*listView) {})
}

func (s *Pages) showList(rw http.ResponseWriter, r *http.Request, reader string, status int, amend func(*listView)) error {
	v := listView{pageView: s.pageView(r, "Forwarding")}
	if id := r.URL.Query().Get("source"); id != "" {
		v.Form.What = "s:" + shell.CleanText(id, 30)
	}
	if err := s.list(r.Context(), reader, &v); err != nil {
		return err
	}
	amend(&v)
	return s.Render(rw, r, status, "notices", v)
}

func (s *Pages) list(ctx context.Context, reader string, v *listView) error {
	all, err := s.River.Forwardings(ctx, reader)
	if err != nil {
		return err
	}
	categories, err := s.River.Categories(ctx, reader, false)
	if err != nil {
		return err
	}
	names, err := s.feedChoices(ctx, reader, all, &v.Form)
	if err != nil {
		return err
	}
	v.Form.Vias, v.Form.Via, v.Form.Digests = viaChoices(), forward.ViaWebhook, digestChoices(forward.DigestNone)
	for _, c := range categories[:min(len(categories), maxCategories)] {
		v.Form.Categories = append(v.Form.Categories, c.Name)
	}
	for _, n := range all {
		v.Rows = append(v.Rows, s.row(n, names))
	}
	return nil
}

// feedChoices fills the menu of feeds, and returns the names of feeds that are forwarded.
func (s *Pages) feedChoices(ctx context.Context, reader string, all []forward.Forwarding, form *formView) (map[int64]string, error) {
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, Limit: maxSources + 1})
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	if form.More = len(list) > maxSources; form.More {
		list = nil
		about := map[int64]bool{}
		if id, err := strconv.ParseInt(strings.TrimPrefix(form.What, "s:"), 10, 64); err == nil {
			about[id] = true
		}
		for _, n := range all[:min(len(all), maxSources)] {
			about[n.SourceID] = n.SourceID != 0
		}
		for id, yes := range about {
			if !yes {
				continue
			}
			one, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, SourceID: id, Limit: 1})
			if err != nil {
				return nil, err
			}
			list = append(list, one...)
		}
	}
	for i := range list {
		f := &list[i]
		names[f.SourceID] = shell.CleanText(f.Name(), 100)
		form.Sources = append(form.Sources, feedChoice{strconv.FormatInt(f.SourceID, 10), names[f.SourceID]})
	}
	return names, nil
}

func (s *Pages) row(n forward.Forwarding, names map[int64]string) listRow {
	now := s.CurrentTime()
	row := listRow{ID: strconv.FormatInt(n.ID, 10), Via: shell.CleanText(n.Via, 20), Target: shell.CleanText(feedview.WithoutUser(n.Target), 300), Sent: locale.Quantity(n.Sent, "message", "messages"), Last: shell.NewMoment(now, n.LastAt),
		Problem: shell.Sentence(n.Problem), Paused: n.Paused, Signed: n.Secret != "", Waiting: n.State == forward.ForwardingWaiting, Ended: n.State == forward.ForwardingEnded}
	if n.NextAt.After(now) {
		row.Next = shell.NewMoment(now, n.NextAt)
	} else {
		row.Next = shell.Moment{Zero: true}
	}
	switch n.Via {
	case forward.ViaEmail:
		row.Via, row.Digests = "by e-mail to", digestChoices(n.Digest)
	case forward.ViaWebhook:
		row.Via = "as JSON to"
	case forward.ViaPost:
		row.Via = "as a form to"
	case forward.ViaMastodon:
		row.Via, row.Signed = "as a status to", false
	}
	switch {
	case n.SourceID != 0 && names[n.SourceID] != "":
		row.What = names[n.SourceID]
	case n.SourceID != 0:
		row.What = "one feed"
	case n.Category != "":
		row.What = "category " + shell.CleanText(n.Category, 100)
	default:
		row.What = "everything"
	}
	switch {
	case row.Ended:
		row.Badge = feedview.Badge{Text: "ended by the recipient", Class: feedview.BadgeBad}
	case n.Paused:
		row.Badge = feedview.Badge{Text: "paused", Class: ""}
	case row.Waiting:
		row.Badge = feedview.Badge{Text: "waiting for confirmation", Class: ""}
	case n.Failures > 0:
		row.Badge = feedview.Badge{Text: "failing", Class: feedview.BadgeBad}
	case n.Sent > 0:
		row.Badge = feedview.Badge{Text: "works", Class: feedview.BadgeGood}
	default:
		row.Badge = feedview.Badge{Text: "no items yet", Class: ""}
	}
	return row
}

// doAdd adds a recipient.
func (s *Pages) doAdd(rw http.ResponseWriter, r *http.Request, reader string) error {
	form, err := shell.ReadForm(rw, r)
	if err != nil {
		return err
	}
	what := shell.CleanText(shell.FormValue(form, "what"), 210)
	n := forward.Forwarding{Reader: reader, Via: shell.CleanText(shell.FormValue(form, "via"), 20), Target: strings.TrimSpace(shell.CleanText(shell.FormValue(form, "target"), 2048)), Secret: shell.FormValue(form, "secret"), Digest: shell.CleanText(shell.FormValue(form, "digest"), 20), CreatedAt: s.CurrentTime()}
	kind, rest, _ := strings.Cut(what, ":")
	switch kind {
	case "c":
		n.Category = rest
	case "s":
		if n.SourceID, err = strconv.ParseInt(rest, 10, 64); err != nil {
			err = fault.New(fault.Invalid, "Choose a feed from the menu.")
		}
	}
	if err == nil && n.SourceID != 0 {
		err = s.followed(r.Context(), reader, n.SourceID)
	}
	if showError := targetError(n); err == nil && showError != "" {
		err = fault.New(fault.Invalid, "%s", showError)
	}
	if err == nil {
		_, err = s.River.PutForwarding(r.Context(), n)
	}
	if err == nil {
		return shell.Redirect(rw, r, "/feeds/notices?done=notice")
	}
	status := s.Refused(rw, r, err)
	return s.showList(rw, r, reader, status, func(v *listView) {
		v.Form.What, v.Form.Via, v.Form.Target, v.Form.Digests = what, n.Via, n.Target, digestChoices(n.Digest)
		if v.Form.Error = shell.Reason(err); status == http.StatusBadRequest {
			v.Form.Error, v.Form.TargetError = "", v.Form.Error
		}
	})
}

// followed returns fault.NotFound if the reader does not follow the feed with the given ID.
func (s *Pages) followed(ctx context.Context, reader string, id int64) error {
	list, err := s.River.Subscriptions(ctx, river.SubscriptionQuery{Reader: reader, SourceID: id, Limit: 1})
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "You do not follow this feed. Your feeds are listed under Feeds.")
	}
	return err
}

// targetError returns the error of an invalid target, or "" if the target is valid.
func targetError(n forward.Forwarding) string {
	switch n.Via {
	case forward.ViaEmail:
		if name, host, ok := strings.Cut(n.Target, "@"); !ok || name == "" || host == "" || strings.ContainsAny(n.Target, " \t") {
			return "Enter an e-mail address, like anna@example.org."
		}
	case forward.ViaWebhook, forward.ViaPost:
		if !shell.IsWebURL(n.Target) {
			return "Enter the address of the program; it begins with https:// or http://."
		}
	case forward.ViaMastodon:
		if !shell.IsWebURL(n.Target) {
			return "Enter the address of your Mastodon server; it begins with https://."
		}
	default:
		return "Choose how to send the items."
	}
	return ""
}

// forwarding returns the forwarding of the reader that the form of a row names.
func (s *Pages) forwarding(rw http.ResponseWriter, r *http.Request, reader string) (n forward.Forwarding, form rsscloud.Form, ok bool) {
	form, err := shell.ReadForm(rw, r)
	if err == nil {
		var all []forward.Forwarding
		all, err = s.River.Forwardings(r.Context(), reader)
		for _, n := range all {
			if err == nil && strconv.FormatInt(n.ID, 10) == shell.FormValue(form, "id") {
				return n, form, true
			}
		}
	}
	if err == nil {
		err = fault.New(fault.NotFound, "This forwarding does not exist any more.")
	}
	s.Fail(rw, r, err)
	return n, form, false
}

// doTry forwards the newest item now.
func (s *Pages) doTry(rw http.ResponseWriter, r *http.Request, reader string) error {
	n, _, ok := s.forwarding(rw, r, reader)
	if !ok {
		return nil
	}
	err := s.River.TryForwarding(r.Context(), reader, n.ID)
	if err == nil {
		done := "tried"
		if n.State == forward.ForwardingWaiting {
			done = "asked"
		}
		return shell.Redirect(rw, r, "/feeds/notices?done="+done)
	}
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return nil
	}
	// A failure of the target is the result of the attempt, not an error of this page.
	if fault.CodeOf(err) == fault.Internal {
		s.LogFailure(r, err, http.StatusInternalServerError)
	}
	return s.showList(rw, r, reader, http.StatusOK, func(v *listView) {
		for i := range v.Rows {
			if v.Rows[i].ID == strconv.FormatInt(n.ID, 10) {
				v.Rows[i].TryError = shell.Reason(err)
			}
		}
	})
}

// doPause pauses or resumes forwarding.
func (s *Pages) doPause(rw http.ResponseWriter, r *http.Request, reader string) error {
	n, _, ok := s.forwarding(rw, r, reader)
	if !ok {
		return nil
	}
	n.Paused = !n.Paused
	if _, err := s.River.PutForwarding(r.Context(), n); err != nil {
		return err
	}
	done := "resumed"
	if n.Paused {
		done = "paused"
	}
	return shell.Redirect(rw, r, "/feeds/notices?done="+done)
}

// doDigest changes how often a mailbox receives new items.
func (s *Pages) doDigest(rw http.ResponseWriter, r *http.Request, reader string) error {
	n, form, ok := s.forwarding(rw, r, reader)
	if !ok {
		return nil
	}
	n.Digest = shell.CleanText(shell.FormValue(form, "digest"), 20)
	if _, err := s.River.PutForwarding(r.Context(), n); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/feeds/notices?done=digest")
}

// doRemove deletes a forwarding after confirmation.
func (s *Pages) doRemove(rw http.ResponseWriter, r *http.Request, reader string) error {
	n, form, ok := s.forwarding(rw, r, reader)
	if !ok {
		return nil
	}
	if shell.FormValue(form, "sure") == "" {
		return s.AskFirst(rw, r, "Delete this forwarding?", shell.Question{Lines: []string{s.Locale(r).Say("%s receives no more items. To create the forwarding again, you need its secret if it has one.", shell.CleanText(feedview.WithoutUser(n.Target), 300))},
			Action: r.URL.Path, Fields: []shell.NamedValue{{Name: "id", Value: strconv.FormatInt(n.ID, 10)}}, Button: "Delete", Back: "/feeds/notices"})
	}
	if err := s.River.DropForwarding(r.Context(), reader, n.ID); err != nil {
		return err
	}
	return shell.Redirect(rw, r, "/feeds/notices?done=removed")
}
