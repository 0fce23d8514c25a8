package writerui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"cloudburst/internal/account"
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
	Decide(ctx context.Context, user string, id int64, d conversation.Decision) (conversation.Mention, error)
	RemoveRule(ctx context.Context, user, host, author string) error
}

const (
	repliesPath    = "/write/replies"
	repliesPerPage = 30
	showRules      = "authors" // the tab with the trusted and blocked authors
)

type repliesView struct {
	shell.View
	Message string
	Show    string
	Tabs    []postTab
	Rows    []replyRow
	Rules   []ruleRow
	More    string // URL of the next page; "": none
}

// replyRow is a reply, like or link in the list.
type replyRow struct {
	ID                 int64
	Kind               string // what the person did
	Name, Href         string // author; Href is "" without a page
	Source, Host       string // page of the reply
	Title, Text        string
	Post, PostHref     string // post that it is about; "" if it is deleted
	When               shell.Moment
	Waiting, Published bool
	Known              bool // the page names its author
}

type ruleRow struct {
	Name, Host, Author string
	Every, Trusted     bool
	When               shell.Moment
}

// replyWords names what a page does with the post.
func replyWords(k conversation.Kind) string {
	return cmp.Or(map[conversation.Kind]string{
		conversation.Reply: "replied to", conversation.Like: "liked", conversation.Repost: "reposted", conversation.Bookmark: "bookmarked",
	}[k], "linked to")
}

// repliesMessages are the messages after a decision.
func repliesMessages() map[string]string {
	return map[string]string{
		"approve":      "Approved. It is on the page of your post now.",
		"trust":        "Approved. Later replies of this author appear at once.",
		"reject":       "Rejected. You find it under Rejected.",
		"block-author": "Blocked. Replies of this author are rejected from now on.",
		"block-host":   "Blocked. Replies from this host are rejected from now on.",
		"forget":       "Removed. Later replies wait for you again.",
	}
}

// repliesPage lists the replies to the posts of the user that are in one state, or the rules.
func (s *Pages) repliesPage(rw http.ResponseWriter, r *http.Request, session account.Session) {
	q := r.URL.Query()
	v := repliesView{View: s.NewView(r, "Replies"), Message: repliesMessages()[q.Get("did")], Show: q.Get("show")}
	states := map[string]conversation.State{"": conversation.Waiting, "approved": conversation.Approved, "rejected": conversation.Rejected}
	state, known := states[v.Show]
	if !known && v.Show != showRules {
		v.Show, state = "", conversation.Waiting
	}
	for _, t := range [...]postTab{{Words: "Waiting"}, {"Approved", "approved", false}, {"Rejected", "rejected", false}, {"Trusted and blocked", showRules, false}} {
		t.Here = t.Href == v.Show
		if t.Href != "" {
			t.Href = "?show=" + t.Href
		}
		t.Href = repliesPath + t.Href
		v.Tabs = append(v.Tabs, t)
	}
	var err error
	if v.Show == showRules {
		err = s.fillRules(r.Context(), &v, session.User)
	} else {
		before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // an invalid number begins at the newest
		err = s.fillReplies(r.Context(), &v, conversation.Query{User: session.User, State: state, Before: max(before, 0), Limit: repliesPerPage + 1})
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	s.Render(rw, r, http.StatusOK, "writereplies", v)
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
	posts := map[int64][2]string{} // words and path
	for _, m := range list {
		about, read := posts[m.Post]
		if !read {
			p, err := s.Posts.Get(ctx, q.User, m.Post)
			if err != nil && fault.CodeOf(err) != fault.NotFound {
				return err
			}
			if err == nil {
				about = [2]string{wordsOfPost(p), s.Posts.Path(p)}
			}
			posts[m.Post] = about
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

// doReplies carries out a decision about a reply, or removes a rule.
func (s *Pages) doReplies(rw http.ResponseWriter, r *http.Request, session account.Session) {
	got, err := s.readSent(rw, r, "")
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	do, to := got.fields.Get("do"), url.Values{}
	if show := got.fields.Get("show"); show == "approved" || show == "rejected" || show == showRules {
		to.Set("show", show)
	}
	if do == "forget" {
		err = s.Replies.RemoveRule(r.Context(), session.User, got.fields.Get("host"), got.fields.Get("author"))
	} else {
		id, wrong := strconv.ParseInt(got.fields.Get("id"), 10, 64)
		if wrong != nil {
			s.Fail(rw, r, fault.New(fault.Invalid, "The form names no reply. Nothing was done. Go back and send it again."))
			return
		}
		_, err = s.Replies.Decide(r.Context(), session.User, id, conversation.Decision(do))
	}
	if err != nil {
		s.Fail(rw, r, err)
		return
	}
	to.Set("did", do)
	s.redirect(rw, r, repliesPath+"?"+to.Encode())
}
