package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"cloudburst/internal/author"
	"cloudburst/internal/conversation"
	"cloudburst/internal/endpoint"
	"cloudburst/internal/endpoint/publishhttp"
	"cloudburst/internal/fault"
	"cloudburst/internal/sanitize"
	"cloudburst/internal/store"
	"cloudburst/internal/text"
	"cloudburst/protocol/webmention"
)

// newMentionSender creates the sender of webmentions. It requests the linked pages through the
// guard for feeds, because authors choose the links.
func (a hosting) newMentionSender(st store.Store) {
	agent := endpoint.UserAgent(Version, a.cfg.PublicURL)
	a.mentionSender = &conversation.Sender{
		Store: st, Transport: &publishhttp.WebmentionSender{HTTP: a.mentionReader, UserAgent: agent}, Page: a.mentionPage,
		Own:   func(url string) bool { _, own := a.names.Path(url); return own },
		Local: a.conversation.ReceiveOwn, Now: a.clock.Now, Log: a.log,
	}
	if a.cfg.Webmention.Send {
		a.posts.Mentioned = a.mentionSender.Wake
	}
}

// mentionsOpen reports whether an author accepts webmentions.
func (a hosting) mentionsOpen(ctx context.Context, user string) (bool, error) {
	if !a.cfg.Webmention.Receive {
		return false, nil
	}
	w, err := a.posts.Writer(ctx, user)
	return err == nil && !w.Mentions.NoReceive, err
}

// mentionPage returns the page of a post with its links, which receive webmentions.
func (a hosting) mentionPage(ctx context.Context, user string, id int64) (conversation.Page, error) {
	p, err := a.posts.Get(ctx, user, id)
	if err != nil {
		return conversation.Page{}, err
	}
	w, err := a.posts.Writer(ctx, user)
	if err != nil {
		return conversation.Page{}, err
	}
	disabled, err := a.accounts.IsDisabled(ctx, user)
	if err != nil {
		return conversation.Page{}, err
	}
	page := conversation.Page{URL: a.posts.Address(p), Off: !a.cfg.Webmention.Send || w.Mentions.NoSend}
	if p.State != author.Published || disabled {
		return page, nil
	}
	for _, to := range linksOf(p, page.URL) {
		if whole, _, _ := strings.Cut(to, "#"); webmention.SameURL(whole, page.URL) {
			continue
		}
		if _, own := a.names.Path(to); own { // on this server, only posts of other authors receive webmentions
			if to, _, err := a.postAt(ctx, to); err != nil && fault.CodeOf(err) != fault.NotFound {
				return conversation.Page{}, err
			} else if err != nil || to == user {
				continue
			}
		}
		page.Targets = append(page.Targets, to)
	}
	if p.Reply != nil {
		page.ReplyTo = p.Reply.URL
	}
	shown, err := json.Marshal([]any{p.Title, p.HTML, p.Link, page.ReplyTo, p.Outline})
	sum := sha256.Sum256(shown)
	page.Hash = base64.RawURLEncoding.EncodeToString(sum[:12])
	return page, err
}

// linksOf returns the URLs of the pages to which the page of a post links. The page to which the
// post replies comes first.
func linksOf(p author.Post, at string) (all []string) {
	add := func(to string) {
		if to != "" && webmention.CheckURL("link", to) == nil && !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	if p.Reply != nil {
		add(p.Reply.URL)
	}
	add(p.Link)
	html := p.HTML
	var walk func(list []author.Node)
	walk = func(list []author.Node) {
		for _, n := range list {
			add(n.Link)
			html += n.HTML
			walk(n.Nodes)
		}
	}
	walk(p.Outline)
	for _, to := range webmention.Hyperlinks([]byte(html), "text/html; charset=utf-8", at) {
		add(to)
	}
	return all
}

// ownMentions reads posts of this server from the store, and all other pages through next.
type ownMentions struct {
	hosting
	next conversation.Reader
}

// Read implements conversation.Reader.
func (o ownMentions) Read(ctx context.Context, source, target string) (c conversation.Content, writer string, err error) {
	if _, own := o.names.Path(source); !own {
		return o.next.Read(ctx, source, target)
	}
	user, id, err := o.postAt(ctx, source)
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return c, "", fault.Wrap(fault.Gone, err, "The post was deleted.")
	}
	if err != nil {
		return c, "", err
	}
	p, err := o.posts.Get(ctx, user, id)
	if err != nil {
		return c, "", err
	}
	same := func(to string) bool { return o.names.Canonical(to) == o.names.Canonical(target) }
	if !slices.ContainsFunc(linksOf(p, o.posts.Address(p)), same) {
		return c, "", fault.New(fault.Gone, "The post does not link to the target.")
	}
	w, err := o.posts.Writer(ctx, user)
	if err != nil {
		return c, "", err
	}
	c = conversation.Content{Kind: conversation.Link, Name: text.ClipRunes(cmp.Or(w.Name, user), conversation.MaxName), PublishedAt: p.PublishedAt,
		Title: text.ClipRunes(p.Title, 2*conversation.MaxName), Text: text.ClipRunes(sanitize.Text(p.HTML), conversation.MaxText)}
	if p.Reply != nil && same(p.Reply.URL) {
		c.Kind = conversation.Reply
	}
	return c, o.names.Public() + "/" + user + "/", nil
}

// knownMention reports whether a mention comes from a trusted source: a post of an author of this
// server, or an item of a feed that the user follows.
func (a hosting) knownMention(ctx context.Context, m conversation.Mention) (bool, error) {
	_, _, err := a.postAt(ctx, m.Source)
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return a.threads.Followed(ctx, m.User, m.Source)
	}
	return err == nil, err
}
