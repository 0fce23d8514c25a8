package writerui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
	"cloudburst/internal/web/shell"
)

// Replies is the interface to replies from other sites for the pages; *conversation.Conversation
// implements it.
type Replies interface {
	List(ctx context.Context, q conversation.Query) ([]conversation.Mention, error)
	Counts(ctx context.Context, user string) (map[conversation.State]int, error)
	Rules(ctx context.Context, user string) ([]conversation.Rule, error)
	Moderate(ctx context.Context, user string, id int64, d conversation.Moderation) (conversation.Mention, error)
	Undo(ctx context.Context, user string, at time.Time) error
	RemoveRule(ctx context.Context, user, host, author string) error
}

const (
	repliesPath    = "/write/replies"
	repliesPerPage = 30
	showRules      = "authors" // the tab with the trusted and blocked authors
	showSent       = "sent"    // the tab with the webmentions of the author's posts
	showSettings   = "settings"
)

type repliesView struct {
	shell.View
	Message string
	Undo    *shell.UndoBar
	Show    string
	Tabs    []replyTab
	Rows    []replyRow
	Rules   []ruleRow
	Sent    []sentGroup
	Post    string          // the post whose webmentions are shown; "": all
	Choice  author.Mentions // settings of the author
	Off     author.Mentions // settings that the operator has turned off
	More    string          // URL of the next page; "": none
}

type replyTab struct {
	postTab
	Count int // number of replies; 0: not displayed
}

// replyRow is a reply, like or link in the list.
type replyRow struct {
	ID                 int64
	Kind               string // what the author of the reply did, such as "liked"
	Name, Href         string // author, and the URL of their page; Href "": unknown
	Source, Host       string // URL and host of the reply
	Title, Text        string
	Post, PostHref     string // post that the reply is about; PostHref "": the post is not public
	When               shell.Moment
	Waiting, Published bool
	Known              bool // the page names its author
}

type ruleRow struct {
	Name, Host, Author string
	Every, Trusted     bool
	When               shell.Moment
}

// replyWords names what the author of a reply did, such as "liked".
func replyWords(k conversation.Kind) string {
	return cmp.Or(map[conversation.Kind]string{
		conversation.Reply: "replied to", conversation.Like: "liked", conversation.Repost: "reposted", conversation.Bookmark: "bookmarked",
	}[k], "linked to")
}

// repliesMessages returns the message for each action that the URL names.
func repliesMessages() map[string]string {
	return map[string]string{
		"approve":      "Approved. It is on the page of your post now.",
		"trust":        "Approved. Later replies of this author appear at once.",
		"reject":       "Rejected. You find it under Rejected.",
		"block-author": "Blocked. Replies of this author are rejected from now on.",
		"block-host":   "Blocked. Replies from this host are rejected from now on.",
		"forget":       "Removed. Later replies wait for you again.",
		"undo":         "Undone. The replies are where they were before.",
		"settings":     "Saved.",
		"again":        "The failed webmentions of the post are sent again.",
	}
}

// repliesPage lists the replies to the posts of the user that are in one state, the rules, the sent
// webmentions, or the settings.
func (s *Pages) repliesPage(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	q := r.URL.Query()
	v := repliesView{View: s.NewView(r, "Replies"), Message: repliesMessages()[q.Get("did")], Show: q.Get("show")}
	s.offerUndo(&v, q)
	err := s.addTabs(r.Context(), &v, session.User)
	switch states := (map[string]conversation.State{"": conversation.Waiting, "approved": conversation.Approved, "rejected": conversation.Rejected}); {
	case err != nil:
	case v.Show == showRules:
		err = s.fillRules(r.Context(), &v, session.User)
	case v.Show == showSent:
		err = s.fillSent(r.Context(), &v, session.User, q)
	case v.Show == showSettings:
		var w author.Writer
		w, err = s.Posts.Writer(r.Context(), session.User)
		v.Choice, v.Off = w.Mentions, s.MentionsOff
	default:
		before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // an invalid number selects the newest replies
		err = s.fillReplies(r.Context(), &v, conversation.Query{User: session.User, State: states[v.Show], Before: max(before, 0), Limit: repliesPerPage + 1})
	}
	if err != nil {
		return err
	}
	return s.Render(rw, r, http.StatusOK, "writereplies", v)
}

// addTabs adds the tabs with the numbers of replies. An unknown tab becomes the first one.
func (s *Pages) addTabs(ctx context.Context, v *repliesView, user string) error {
	counts, err := s.Replies.Counts(ctx, user)
	if err != nil {
		return err
	}
	tabs := []replyTab{
		{postTab{Words: "Waiting"}, counts[conversation.Waiting]}, {postTab{"Approved", "approved", false}, counts[conversation.Approved]},
		{postTab{"Rejected", "rejected", false}, counts[conversation.Rejected]}, {postTab{"Trusted and blocked", showRules, false}, 0},
		{postTab{"Sent", showSent, false}, 0}, {postTab{"Settings", showSettings, false}, 0},
	}
	if !slices.ContainsFunc(tabs, func(t replyTab) bool { return t.Href == v.Show }) {
		v.Show = ""
	}
	for _, t := range tabs {
		t.Here = t.Href == v.Show
		if t.Href != "" {
			t.Href = "?show=" + t.Href
		}
		t.Href = repliesPath + t.Href
		v.Tabs = append(v.Tabs, t)
	}
	return nil
}

// offerUndo offers to undo the decision that the query names.
func (s *Pages) offerUndo(v *repliesView, q url.Values) {
	millis, err := strconv.ParseInt(q.Get("at"), 10, 64)
	until := time.UnixMilli(millis).Add(conversation.UndoWithin)
	if err != nil || v.Message == "" || !until.After(v.Now) {
		return
	}
	v.Undo = &shell.UndoBar{Action: repliesPath, Words: v.Message, Until: v.When(until), Fields: []shell.NamedValue{{Name: "do", Value: "undo"}, {Name: "at", Value: q.Get("at")}, {Name: "show", Value: v.Show}}}
	v.Message = ""
}

func (s *Pages) fillReplies(ctx context.Context, v *repliesView, q conversation.Query) error {
	list, err := s.Replies.List(ctx, q)
	if err != nil {
		return err
	}
	if len(list) > repliesPerPage {
		list = list[:repliesPerPage]
		next := url.Values{"before": {strconv.FormatInt(list[len(list)-1].ID, 10)}}
		if v.Show != "" {
			next.Set("show", v.Show)
		}
		v.More = repliesPath + "?" + next.Encode()
	}
	posts := postNames{s, q.User, map[int64][2]string{}}
	for _, m := range list {
		about, err := posts.of(ctx, m.Post)
		if err != nil {
			return err
		}
		row := replyRow{ID: m.ID, Kind: replyWords(m.Kind), Name: shell.CleanText(cmp.Or(m.Name, m.Host), conversation.MaxName), Source: m.Source, Host: m.Host,
			Title: shell.CleanText(m.Title, 2*conversation.MaxName), Text: shell.CleanText(m.Text, 1000), Post: about[0], PostHref: about[1], When: v.When(m.ReceivedAt),
			Waiting: m.State == conversation.Waiting, Published: m.State == conversation.Approved, Known: m.Author != ""}
		if shell.IsWebURL(m.Author) {
			row.Href = m.Author
		}
		v.Rows = append(v.Rows, row)
	}
	return nil
}

func (s *Pages) fillRules(ctx context.Context, v *repliesView, user string) error {
	rules, err := s.Replies.Rules(ctx, user)
	for _, r := range rules {
		row := ruleRow{Host: r.Host, Author: r.Author, Every: r.Author == conversation.EveryAuthor, Trusted: r.Verdict == conversation.Trust, When: v.When(r.At)}
		row.Name = shell.CleanText(cmp.Or(r.Name, r.Host), conversation.MaxName)
		v.Rules = append(v.Rules, row)
	}
	return err
}

// doReplies carries out a decision about a reply, removes a rule, or stores the settings.
func (s *Pages) doReplies(rw http.ResponseWriter, r *http.Request, session account.Session) error {
	got, err := s.readSent(rw, r, "")
	if err != nil {
		return err
	}
	to := url.Values{"did": {got.fields.Get("do")}}
	if show := got.fields.Get("show"); slices.Contains([]string{"approved", "rejected", showRules, showSent, showSettings}, show) {
		to.Set("show", show)
	}
	if err := s.changeReplies(r.Context(), session.User, got.fields, to); err != nil {
		return err
	}
	return s.redirect(rw, r, repliesPath+"?"+to.Encode())
}

// changeReplies carries out the action of a form. For a decision about a reply, it adds the time of
// the decision to the parameters of the next page, which offers to undo the decision.
func (s *Pages) changeReplies(ctx context.Context, user string, fields, to url.Values) error {
	number := func(name string) (int64, error) {
		n, err := strconv.ParseInt(fields.Get(name), 10, 64)
		if err != nil {
			return 0, fault.New(fault.Invalid, "The form names no reply. Nothing was done. Go back and send it again.")
		}
		return n, nil
	}
	switch do := fields.Get("do"); do {
	case "forget":
		return s.Replies.RemoveRule(ctx, user, fields.Get("host"), fields.Get("author"))
	case "undo":
		at, err := number("at")
		if err != nil {
			return err
		}
		return s.Replies.Undo(ctx, user, time.UnixMilli(at).UTC())
	case "settings":
		return s.Mentions.SetMentions(ctx, user, author.Mentions{NoReceive: fields.Get("receive") == "", NoSend: fields.Get("send") == ""})
	case "again":
		post, err := number("post")
		if err == nil {
			_, err = s.Sent.Again(ctx, user, post)
		}
		return err
	default:
		id, err := number("id")
		if err != nil {
			return err
		}
		m, err := s.Replies.Moderate(ctx, user, id, conversation.Moderation(do))
		to.Set("at", strconv.FormatInt(m.DecidedAt.UnixMilli(), 10))
		return err
	}
}
