package api

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/client"
	"cloudburst/internal/api/exchange"
	"cloudburst/internal/api/form"
	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/fault"
)

// Replies lists replies to posts and accepts or rejects them. [*conversation.Conversation]
// implements it.
type Replies interface {
	List(ctx context.Context, q conversation.Query) ([]conversation.Mention, error)
	Rules(ctx context.Context, user string) ([]conversation.Rule, error)
	Moderate(ctx context.Context, user string, id int64, d conversation.Moderation) (conversation.Mention, error)
	Undo(ctx context.Context, user string, at time.Time) error
	RemoveRule(ctx context.Context, user, host, author string) error
}

// SentMentions lists the webmentions of posts. [*conversation.Sender] implements it.
type SentMentions interface {
	List(ctx context.Context, q conversation.SentQuery) ([]conversation.Sent, error)
}

// MentionChoices stores the choices of authors about webmentions. [author.MentionSettings] implements it.
type MentionChoices interface {
	Writer(ctx context.Context, user string) (author.Writer, error)
	SetMentions(ctx context.Context, user string, m author.Mentions) error
}

// replyRoutes lists the endpoints for replies and webmentions.
func replyRoutes() []postRoute {
	reads, writes := []string{scopeCreate, scopeUpdate, scopeDelete}, []string{scopeUpdate}
	return []postRoute{
		{"GET", "/v1/users/{user}/replies", reads, (postAPI).replies},
		{"POST", "/v1/users/{user}/replies/{id}", writes, (postAPI).decideReply},
		{"POST", "/v1/users/{user}/replies/undo", writes, plainPost((postAPI).undoReply)},
		{"GET", "/v1/users/{user}/replies/rules", reads, plainPost((postAPI).replyRules)},
		{"DELETE", "/v1/users/{user}/replies/rules", writes, (postAPI).removeReplyRule},
		{"GET", "/v1/users/{user}/replies/settings", reads, plainPost((postAPI).replySettings)},
		{"PUT", "/v1/users/{user}/replies/settings", writes, plainPost((postAPI).setReplySettings)},
		{"GET", "/v1/users/{user}/webmentions", reads, (postAPI).webmentions},
	}
}

func (s postAPI) withReplies() error {
	if s.Options.Replies == nil || s.Options.Sent == nil || s.Options.Mentions == nil {
		return fault.New(fault.Unsupported, "This server does not support replies.")
	}
	return nil
}

func (s postAPI) replies(c *postCall) error {
	p := exchange.ReadParams(c.r, exchange.Paged("state", "post")...)
	q := conversation.Query{User: c.user, State: conversation.State(p.Text("state")), Post: p.Number("post"), Limit: p.Limit()}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	if !slices.Contains([]conversation.State{"", conversation.Unread, conversation.Waiting, conversation.Approved, conversation.Rejected}, q.State) {
		return fault.New(fault.Invalid, "state is %q: it must be one of unread, waiting, approved, rejected.", cut(string(q.State), 100))
	}
	if cursor != "" {
		var err error
		if q.Before, err = strconv.ParseInt(cursor, 10, 64); err != nil || q.Before <= 0 {
			return exchange.BadCursor(cursor)
		}
	}
	rows, err := s.Options.Replies.List(c.ctx(), q)
	if err != nil {
		return err
	}
	list := make([]client.Reply, len(rows))
	for i, m := range rows {
		list[i] = client.Reply{ID: m.ID, Post: m.Post, State: string(m.State), Kind: string(m.Kind), Source: m.Source, Target: m.Target, Host: m.Host,
			Author: m.Author, Name: m.Name, Title: m.Title, Text: m.Text, ReceivedAt: m.ReceivedAt, PublishedAt: form.When(m.PublishedAt)}
	}
	page := exchange.Page{Name: "replies", Rows: list}
	if len(rows) == q.Limit {
		page.Next = strconv.FormatInt(rows[len(rows)-1].ID, 10)
	}
	return exchange.OK(c.w, page)
}

func (s postAPI) decideReply(c *postCall) error {
	id, err := c.plain()
	if err != nil {
		return err
	}
	var in struct {
		Do string `json:"do"`
	}
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	m, err := s.Options.Replies.Moderate(c.ctx(), c.user, id, conversation.Moderation(in.Do))
	if err != nil {
		return err
	}
	state := conversation.Rejected
	if d := conversation.Moderation(in.Do); d == conversation.Approve || d == conversation.ApproveAlways {
		state = conversation.Approved
	}
	return exchange.OK(c.w, client.ReplyDecision{ID: m.ID, State: string(state), DecidedAt: m.DecidedAt})
}

func (s postAPI) undoReply(c *postCall) error {
	var in struct {
		DecidedAt time.Time `json:"decidedAt"`
	}
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	err := s.Options.Replies.Undo(c.ctx(), c.user, in.DecidedAt.UTC())
	return exchange.Answer(c.w, struct{}{}, err)
}

func (s postAPI) replyRules(c *postCall) error {
	if err := s.withReplies(); err != nil {
		return err
	}
	rows, err := s.Options.Replies.Rules(c.ctx(), c.user)
	if err != nil {
		return err
	}
	list := struct {
		Rules []client.ReplyRule `json:"rules"`
	}{Rules: make([]client.ReplyRule, len(rows))}
	for i, r := range rows {
		list.Rules[i] = client.ReplyRule{Verdict: string(r.Verdict), Host: r.Host, Author: r.Author, Name: r.Name, At: r.At}
	}
	return exchange.OK(c.w, list)
}

func (s postAPI) removeReplyRule(c *postCall) error {
	p := exchange.ReadParams(c.r, "host", "author")
	host, by := p.Text("host"), p.Text("author")
	if p.Err != nil {
		return p.Err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	rules, err := s.Options.Replies.Rules(c.ctx(), c.user)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rules, func(r conversation.Rule) bool { return r.Host == host && r.Author == by }) {
		return fault.New(fault.NotFound, "There is no rule about %q on the host %q.", cut(by, 200), cut(host, 200))
	}
	err = s.Options.Replies.RemoveRule(c.ctx(), c.user, host, by)
	return exchange.Answer(c.w, struct{}{}, err)
}

func (s postAPI) replySettings(c *postCall) error {
	if err := s.withReplies(); err != nil {
		return err
	}
	w, err := s.Options.Mentions.Writer(c.ctx(), c.user)
	return exchange.Answer(c.w, client.ReplySettings{Receive: !w.Mentions.NoReceive, Send: !w.Mentions.NoSend}, err)
}

func (s postAPI) setReplySettings(c *postCall) error {
	var in struct {
		Receive *bool `json:"receive"`
		Send    *bool `json:"send"`
	}
	if err := exchange.ReadJSON(c.w, c.r, &in); err != nil {
		return err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	if in.Receive == nil || in.Send == nil {
		return fault.New(fault.Invalid, "receive and send must both be true or false.")
	}
	err := s.Options.Mentions.SetMentions(c.ctx(), c.user, author.Mentions{NoReceive: !*in.Receive, NoSend: !*in.Send})
	return exchange.Answer(c.w, client.ReplySettings{Receive: *in.Receive, Send: *in.Send}, err)
}

func (s postAPI) webmentions(c *postCall) error {
	p := exchange.ReadParams(c.r, exchange.Paged("post")...)
	q := conversation.SentQuery{User: c.user, Post: p.Number("post"), Limit: p.Limit()}
	cursor := p.Cursor()
	if p.Err != nil {
		return p.Err
	}
	if err := s.withReplies(); err != nil {
		return err
	}
	if cursor != "" {
		post, target, _ := strings.Cut(cursor, " ")
		var err error
		if q.BeforePost, err = strconv.ParseInt(post, 10, 64); err != nil || q.BeforePost <= 0 {
			return exchange.BadCursor(cursor)
		}
		q.AfterTarget = target
	}
	rows, err := s.Options.Sent.List(c.ctx(), q)
	if err != nil {
		return err
	}
	list := make([]client.SentWebmention, len(rows))
	for i, o := range rows {
		list[i] = client.SentWebmention{Post: o.Post, Source: o.Source, Target: o.Target, State: string(o.Result), Reply: o.Reply, Removed: o.Removed,
			Endpoint: o.Endpoint, Status: o.Status, Answer: o.Answer, Tries: o.Tries, LastAt: form.When(o.LastAt), NextAt: form.When(o.DueAt)}
	}
	page := exchange.Page{Name: "webmentions", Rows: list}
	if len(rows) == q.Limit {
		last := rows[len(rows)-1]
		page.Next = strconv.FormatInt(last.Post, 10) + " " + last.Target
	}
	return exchange.OK(c.w, page)
}
