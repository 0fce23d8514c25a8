package readcli

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/fault"
)

func (p *commands) notices() *cobra.Command {
	c := shell.Group("notices", "Forward new items by webhook, form, email or to Mastodon",
		`A forwarding sends each new item of one feed, of one category or of all feeds to a
program by webhook (JSON) or form POST, to a person by email, or as a status to Mastodon.

Works on the running server, or on the data folder when none runs.`)
	c.Aliases = []string{"forwarding"}
	c.AddCommand(p.noticesAdd(), p.noticesList(), p.noticesSet(), p.noticesRemove(), p.noticesTry())
	return c
}

const noticeFields = `id, source_id, category, via, target, signed, paused, created_at,
sent, last_at, failures, problem, state, asked_at, decided_at, digest`

func noticeVias() []string { return []string{"webhook", "email", "post", "mastodon"} }

// digestNone is the value of --digest for a forwarding without digests.
const digestNone = "none"

func digestFlag(c *cobra.Command, value *string) {
	shell.ChoiceFlag(c, value, "digest", "one email for the items of a day or a week", digestNone, "daily", "weekly")
}

// digestOf returns the value of --digest for the JSON API; nil: the flag is not set.
func digestOf(c *cobra.Command, value string) *string {
	switch {
	case !c.Flags().Changed("digest"):
		return nil
	case value == digestNone:
		return new("")
	}
	return &value
}

func (p *commands) noticesAdd() *cobra.Command {
	var user, secretFile, digest string
	var n client.ForwardingRequest
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add TARGET",
		Short: "Forward new items to a URL or an email address",
		Long: `Forwards each new item to TARGET, a URL or an email address. --via selects the method:
webhook posts JSON, signed with the secret of --secret-file; post posts a form with url,
title, text and feed; email needs a mail server in the settings; mastodon publishes a status
with a link for each item of --source, with the access token in --secret-file. The default
is email for an address with @ and webhook for a URL. --digest sends one email a day or a
week that lists the items.

The server forwards items only with the consent of the recipient: a person opens a link
in an email, a program answers a challenge (see docs/guides/notices.md). "notices list" shows
the state, and "notices try" requests consent again.

--json prints an object: ` + noticeFields + `.`,
		Example: "  cloudburst notices add --category News https://example.org/hook\n  cloudburst notices add --source https://example.com/rss.xml ann@example.org",
		Args:    shell.Between(1, 1, "one TARGET: a URL or an email address"),
		RunE: func(c *cobra.Command, args []string) error {
			n.Target, n.Digest = args[0], digestOf(c, digest)
			if n.Via == "" {
				n.Via = "webhook"
				if strings.Contains(n.Target, "@") && !strings.Contains(n.Target, "://") {
					n.Via = "email"
				}
			}
			if secretFile != "" {
				secret, err := p.readSecret(c.Context(), "Secret", secretFile)
				if err != nil {
					return err
				}
				n.Secret = &secret
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				made, err := s.River(user).PutForwarding(ctx, n)
				if err != nil {
					return err
				}
				if asJSON {
					return shell.JSONLines(p.Out).Encode(made)
				}
				return p.printNotice(made, s.Running)
			})
		},
	})
	f := c.Flags()
	ofReader(c, &user)
	shell.ChoiceFlag(c, &n.Via, "via", "method", noticeVias()...)
	f.StringVar(&n.Source, "source", "", "only items of the feed with this `URL` or id")
	digestFlag(c, &digest)
	f.StringVar(&n.Category, "category", "", "only items in the category with this `name`")
	f.StringVar(&secretFile, "secret-file", "", "`file` with the secret that signs webhooks or the access token of Mastodon; - is standard input")
	f.BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

// printNotice prints a new forwarding and its state.
func (p *commands) printNotice(made client.Forwarding, running bool) error {
	waits := made.State == "waiting"
	text := "Forwarding %d sends new items to %s by %s.\n"
	if waits {
		text = "Forwarding %d will send new items to %s by %s after the recipient gives consent.\n"
	}
	if _, err := fmt.Fprintf(p.Out, text, made.ID, shell.Clean(made.Target), made.Via); err != nil {
		return err
	}
	if waits && !running {
		fmt.Fprintln(p.Err, "No server is running: the next start (cloudburst serve) requests the consent of the recipient.")
	}
	return nil
}

func (p *commands) noticesList() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the forwardings of new items",
		Long:  "Lists the forwardings.\n\n--json prints one object per line: " + noticeFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return p.printNotices(shell.Each(s.River(user).Forwardings(ctx)), asJSON)
		}),
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) printNotices(list iter.Seq2[client.Forwarding, error], asJSON bool) error {
	return shell.PrintList(p.Out, list, asJSON, []string{"ID", "VIA", "TARGET", "OF", "STATE", "SENT", "LAST", "PROBLEM", "DIGEST"}, func(n *client.Forwarding) []string {
		return []string{strconv.FormatInt(n.ID, 10), n.Via, n.Target, feedsOf(n.SourceID, n.Category), noticeState(n), fmt.Sprint(n.Sent), shell.FormatTime(n.LastAt), n.Problem, n.Digest}
	})
}

// feedsOf describes the feeds to which a forwarding or a filter applies.
func feedsOf(source int64, category string) string {
	switch {
	case source != 0:
		return "feed " + strconv.FormatInt(source, 10)
	case category != "":
		return category
	}
	return "all feeds"
}

// noticeState returns the state of a forwarding in one word.
func noticeState(n *client.Forwarding) string {
	if n.Paused && n.State == "confirmed" {
		return "paused"
	}
	return n.State
}

func (p *commands) noticesSet() *cobra.Command {
	var user, digest string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "set ID --digest none|daily|weekly",
		Short: "Change how often a mailbox receives new items",
		Long: `Changes whether a mailbox receives each item at once (none), or one email a day or a week.
Pending items are sent at once, or with the next email. "notices list" prints the IDs.`,
		Example: "  cloudburst notices set 7 --digest weekly",
		Args:    shell.Between(1, 1, "the ID of one forwarding"),
		RunE: func(c *cobra.Command, args []string) error {
			chosen := digestOf(c, digest)
			if chosen == nil {
				return shell.Usagef("--digest is required")
			}
			return p.aNotice(c, args[0], func(ctx context.Context, s *shell.Connection, id int64) (string, error) {
				n, err := aForwarding(ctx, s.River(user), id)
				if err == nil {
					change := client.ForwardingRequest{ID: id, Category: n.Category, Via: n.Via, Target: n.Target, Paused: n.Paused, Digest: chosen}
					if n.SourceID != 0 {
						change.Source = strconv.FormatInt(n.SourceID, 10)
					}
					_, err = s.River(user).PutForwarding(ctx, change)
				}
				return fmt.Sprintf("Forwarding %d has the digest %s.", id, digest), err
			})
		},
	})
	ofReader(c, &user)
	digestFlag(c, &digest)
	return c
}

// aForwarding returns one forwarding of a user by its ID.
func aForwarding(ctx context.Context, r *client.River, id int64) (client.Forwarding, error) {
	list, err := r.Forwardings(ctx)
	if err != nil {
		return client.Forwarding{}, err
	}
	for _, n := range list {
		if n.ID == id {
			return n, nil
		}
	}
	return client.Forwarding{}, fault.New(fault.NotFound, "There is no forwarding %d: \"notices list\" prints the IDs.", id)
}

// parseID parses the ID of an object of this kind. The command called list prints the IDs.
func parseID(text, kind, list string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, shell.Usagef("invalid %s ID %q: %q prints the IDs", kind, text, list)
	}
	return id, nil
}

func (p *commands) noticesRemove() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove ID",
		Short: "Remove a forwarding",
		Long:  "Removes a forwarding; \"notices list\" prints the IDs.",
		Args:  shell.Between(1, 1, "the ID of one forwarding"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.aNotice(c, args[0], func(ctx context.Context, s *shell.Connection, id int64) (string, error) {
				return fmt.Sprintf("Forwarding %d is removed.", id), s.River(user).DropForwarding(ctx, id)
			})
		},
	})
	ofReader(c, &user)
	return c
}

func (p *commands) noticesTry() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "try ID",
		Short: "Forward the newest item now, as a test",
		Long: `Forwards the newest matching item and reports an error if that fails. If the recipient
has not given consent yet, the command requests it again. "notices list" prints the IDs.`,
		Args: shell.Between(1, 1, "the ID of one forwarding"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.aNotice(c, args[0], func(ctx context.Context, s *shell.Connection, id int64) (string, error) {
				text := fmt.Sprintf("Forwarding %d works: the target accepted the item.", id)
				list, err := s.River(user).Forwardings(ctx)
				if err == nil && slices.ContainsFunc(list, func(n client.Forwarding) bool { return n.ID == id && n.State == "waiting" }) {
					text = fmt.Sprintf("Forwarding %d: requested the consent of the recipient.", id)
				}
				if err != nil {
					return "", err
				}
				return text, s.River(user).TryForwarding(ctx, id)
			})
		},
	})
	ofReader(c, &user)
	return c
}

// aNotice creates the run function of a command that performs an action on one forwarding and
// prints the result.
func (p *commands) aNotice(c *cobra.Command, name string, act func(ctx context.Context, s *shell.Connection, id int64) (string, error)) error {
	id, err := parseID(name, "forwarding", "notices list")
	if err != nil {
		return err
	}
	return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
		text, err := act(ctx, s, id)
		if err == nil {
			_, err = fmt.Fprintln(p.Out, text)
		}
		return err
	})
}
