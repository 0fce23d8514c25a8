package writecli

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

const (
	replyFields = `id, post, state, kind, source, target, host, author, name, title, text,
receivedAt, publishedAt`
	sentFields = `post, source, target, state, reply, removed, endpoint, status, answer,
tries, lastAt, nextAt`
)

func (p *commands) replies() *cobra.Command {
	c := shell.Group("replies", "List, approve and reject replies to posts",
		`These commands manage what other pages say about the posts of a user: replies, likes,
reposts, bookmarks and links, which arrive by Webmention. Nothing from an unknown author
is public before it is approved.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.repliesList(),
		p.replyDecision("approve", "approve", "Publish a reply below its post", "Publishes a reply below its post."),
		p.replyDecision("trust", "trust", "Publish a reply, and later ones of its author", "Publishes a reply below its post. Later replies of the same author appear at once."),
		p.replyDecision("reject", "reject", "Reject a reply", "Rejects a reply. It stays rejected when its page reports it again."),
		p.replyDecision("block", "block-author", "Reject all replies of an author", "Rejects a reply and all others of its author."),
		p.replyDecision("block-host", "block-host", "Reject all replies from a host", "Rejects a reply and all others from its host and the subdomains of the host."),
		p.repliesUndo(), p.repliesRules(), p.repliesForget(), p.repliesSent(), p.repliesSettings())
	return c
}

// withReplies returns the run function of a command for the replies to the posts of an author; see
// forWriter.
func (p *commands) withReplies(user *string, do func(ctx context.Context, s client.Conversation, args []string) error) func(*cobra.Command, []string) error {
	return p.forWriter(user, func(ctx context.Context, s *shell.Connection, name string, args []string) error {
		return do(ctx, client.Conversation{Client: s.Client, User: name}, args)
	})
}

func (p *commands) repliesList() *cobra.Command {
	var user string
	var q client.ReplyQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use: "list", Short: "List replies, the newest first",
		Long: `Lists replies, the newest first, with number, state, kind, author, and text or URL.
Replies whose page was not read yet are listed only with --state unread.

--json prints one object per line: ` + replyFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
			return shell.PrintList(p.Out, s.Replies(ctx, q), asJSON, []string{"NUMBER", "POST", "STATE", "KIND", "AUTHOR", "TEXT"}, func(r *client.Reply) []string {
				return []string{decimal(r.ID), decimal(r.Post), r.State, r.Kind, cmp.Or(r.Name, r.Host), shell.Clip(cmp.Or(r.Text, r.Source), 70)}
			})
		}),
	})
	ofWriter(c, &user)
	shell.ChoiceFlag(c, &q.State, "state", "only replies in this state", "unread", "waiting", "approved", "rejected")
	c.Flags().Int64Var(&q.Post, "post", 0, "only replies to the post with this `number`")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// replyDecision creates a command that decides about one reply.
func (p *commands) replyDecision(name, decision, short, long string) *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use: name + " NUMBER", Short: short,
		Long: long + ` "cloudburst replies undo" reverts the decision within ten minutes.`,
		Args: shell.Between(1, 1, "the NUMBER of one reply, see \"replies list\""),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id <= 0 {
				return shell.Usagef("invalid reply number %q: \"cloudburst replies list\" prints the numbers", args[0])
			}
			return p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
				d, err := s.Decide(ctx, id, decision)
				return p.ReportSuccess(err, "Reply %d is %s; \"cloudburst replies undo %s --user %s\" reverts this within ten minutes.\n",
					d.ID, d.State, d.DecidedAt.UTC().Format(time.RFC3339Nano), s.User)
			})(c, args)
		},
	})
	ofWriter(c, &user)
	return c
}

func (p *commands) repliesUndo() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use: "undo TIME", Short: "Undo a decision about replies",
		Long: `Reverts the decision that was made at a TIME, within ten minutes after it. The command that
decides prints the time.`,
		Args: shell.Between(1, 1, "the TIME of one decision"),
		RunE: func(c *cobra.Command, args []string) error {
			at, err := time.Parse(time.RFC3339Nano, args[0])
			if err != nil {
				return shell.Usagef("invalid time %q: it must be as the decision printed it, such as 2026-11-28T21:00:00.5Z", args[0])
			}
			return p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
				return p.ReportSuccess(s.Undo(ctx, at), "The decision is reverted.\n")
			})(c, args)
		},
	})
	ofWriter(c, &user)
	return c
}

func (p *commands) repliesRules() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use: "rules", Short: "List trusted and blocked authors and hosts",
		Long: `Lists trusted and blocked authors and hosts, the newest first. The author * means everyone on the host.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
			return shell.PrintList(p.Out, shell.Each(s.Rules(ctx)), false, []string{"VERDICT", "HOST", "AUTHOR", "NAME", "SINCE"}, func(r *client.ReplyRule) []string {
				return []string{r.Verdict, r.Host, r.Author, r.Name, shell.FormatTime(&r.At)}
			})
		}),
	})
	ofWriter(c, &user)
	return c
}

func (p *commands) repliesForget() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use: "forget HOST [AUTHOR]", Short: "Trust or block an author or host no longer",
		Long: `Deletes the rule about an author, or about everyone on a host if no author is given.
Replies keep their state; later ones wait again.`,
		Args: shell.Between(1, 2, "a HOST and an AUTHOR, see \"replies rules\""),
		RunE: p.withReplies(&user, func(ctx context.Context, s client.Conversation, args []string) error {
			return p.ReportSuccess(s.DeleteRule(ctx, args[0], append(args, "*")[1]), "The rule is deleted.\n")
		}),
	})
	ofWriter(c, &user)
	return c
}

func (p *commands) repliesSent() *cobra.Command {
	var user string
	var post int64
	var limit int
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use: "sent", Short: "List the webmentions that were sent for posts",
		Long: `Lists the webmentions of posts, those of the newest post first, with the last answer and the
time of the next attempt. The states:

  pending      an attempt follows
  accepted     the page accepted the webmention
  no-endpoint  the page receives no webmentions
  failed       the page refused, or no attempt in two days succeeded

--json prints one object per line: ` + sentFields + `.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
			return shell.PrintList(p.Out, s.Sent(ctx, post, limit), asJSON, []string{"POST", "TARGET", "STATE", "LAST", "ANSWER", "NEXT"}, func(o *client.SentWebmention) []string {
				return []string{decimal(o.Post), o.Target, o.State, shell.FormatTime(o.LastAt), o.Answer, shell.FormatTime(o.NextAt)}
			})
		}),
	})
	ofWriter(c, &user)
	c.Flags().Int64Var(&post, "post", 0, "only webmentions of the post with this `number`")
	c.Flags().IntVar(&limit, "limit", 0, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) repliesSettings() *cobra.Command {
	var user, receive, send string
	c := shell.ServerFlags(&cobra.Command{
		Use: "settings", Short: "Show or change whether a user receives and sends webmentions",
		Long: `Shows whether a user receives and sends webmentions, after the changes that the flags request.
The settings webmention.receive and webmention.send of the server can turn both off for all users.`,
		Args: shell.Between(0, 0, ""),
		RunE: p.withReplies(&user, func(ctx context.Context, s client.Conversation, _ []string) error {
			now, err := s.Settings(ctx)
			if err == nil && receive+send != "" {
				if receive != "" {
					now.Receive = receive == "on"
				}
				if send != "" {
					now.Send = send == "on"
				}
				now, err = s.SetSettings(ctx, now)
			}
			word := map[bool]string{true: "on", false: "off"}
			return p.ReportSuccess(err, "receive  %s\nsend     %s\n", word[now.Receive], word[now.Send])
		}),
	})
	ofWriter(c, &user)
	shell.ChoiceFlag(c, &receive, "receive", "receive webmentions", "on", "off")
	shell.ChoiceFlag(c, &send, "send", "send webmentions", "on", "off")
	return c
}
