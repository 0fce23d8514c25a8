package readcli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) notices() *cobra.Command {
	c := shell.Group("notices", "Tell people and programs elsewhere of what arrives",
		`A notice tells of each item that arrives, of one feed, of one category or of all: a
program by a webhook (JSON) or a form that is posted, a person by e-mail.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.noticesAdd(), p.noticesList(), p.noticesRemove(), p.noticesTry())
	return c
}

const noticeFields = `id, source_id, category, via, target, signed, paused, created_at,
sent, last_at, failures, problem, state, asked_at, decided_at`

func noticeVias() []string { return []string{"webhook", "email", "post"} }

func (p *commands) noticesAdd() *cobra.Command {
	var user, secretFile string
	var n client.ForwardingRequest
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "add TARGET",
		Short: "Tell somebody of what arrives",
		Long: `Tells TARGET, a URL or an e-mail address, of each item that arrives. --via says how:
webhook posts JSON, which is signed where --secret-file names a secret; post posts a
form with url, title, text and feed; email needs a mail server in the settings. An
address with @ is told by email and a URL by webhook when --via does not say otherwise.

Nothing is forwarded before the recipient has agreed: a person by a link in a mail, a
program by its answer to a challenge, as docs/notices.md describes. "notices list" shows
the state, and "notices try" asks again.

--json prints an object: ` + noticeFields + `.`,
		Example: "  cloudburst notices add --category News https://example.org/hook\n  cloudburst notices add --source https://example.com/rss.xml ann@example.org",
		Args:    shell.Between(1, 1, "one TARGET: a URL or an e-mail address"),
		RunE: func(c *cobra.Command, args []string) error {
			n.Target = args[0]
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
	shell.ChoiceFlag(c, &n.Via, "via", "how", noticeVias()...)
	f.StringVar(&n.Source, "source", "", "only of the feed with this `URL` or id")
	f.StringVar(&n.Category, "category", "", "only of the category of this `name`")
	f.StringVar(&secretFile, "secret-file", "", "`file` that holds the secret by which webhooks are signed; - is standard input")
	f.BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}

// printNotice prints what was added, and what it waits for.
func (p *commands) printNotice(made client.Forwarding, running bool) error {
	waits := made.State == "waiting"
	text := "Notice %d tells %s by %s.\n"
	if waits {
		text = "Notice %d tells %s by %s, once the recipient has agreed.\n"
	}
	if _, err := fmt.Fprintf(p.Out, text, made.ID, shell.Clean(made.Target), made.Via); err != nil {
		return err
	}
	if waits && !running {
		fmt.Fprintln(p.Err, "No server runs: the recipient is asked as soon as one does (cloudburst serve).")
	}
	return nil
}

func (p *commands) noticesList() *cobra.Command {
	var user string
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List who is told of what arrives",
		Long:  "Lists the notices.\n\n--json prints one object a line: " + noticeFields + ".",
		Args:  shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				list, err := s.River(user).Forwardings(ctx)
				if err != nil {
					return err
				}
				return p.printNotices(list, asJSON)
			})
		},
	})
	ofReader(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printNotices(list []client.Forwarding, asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "ID", "VIA", "TARGET", "OF", "STATE", "SENT", "LAST", "PROBLEM")
	for _, n := range list {
		of := "everything"
		switch {
		case n.SourceID != 0:
			of = "feed " + strconv.FormatInt(n.SourceID, 10)
		case n.Category != "":
			of = n.Category
		}
		var err error
		if asJSON {
			err = enc.Encode(n)
		} else {
			err = t.Row(strconv.FormatInt(n.ID, 10), n.Via, n.Target, of, noticeState(&n), fmt.Sprint(n.Sent), shell.FormatTime(n.LastAt), n.Problem)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return t.End()
}

// noticeState is the state of a notice in a word.
func noticeState(n *client.Forwarding) string {
	if n.Paused && n.State == "confirmed" {
		return "paused"
	}
	return n.State
}

// noticeID is the number of a notice on the command line.
func noticeID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, shell.Usagef("%q is not the ID of a notice: \"notices list\" tells them", text)
	}
	return id, nil
}

func (p *commands) noticesRemove() *cobra.Command {
	var user string
	c := shell.ServerFlags(&cobra.Command{
		Use:   "remove ID",
		Short: "Tell somebody no more",
		Long:  "Ends a notice; \"notices list\" tells the IDs.",
		Args:  shell.Between(1, 1, "the ID of one notice"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.aNotice(c, args[0], func(ctx context.Context, s *shell.Connection, id int64) (string, error) {
				return fmt.Sprintf("Notice %d tells nobody any more.", id), s.River(user).DropForwarding(ctx, id)
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
		Short: "Send the newest item now, to see whether it arrives",
		Long: `Sends the newest item that a notice would tell of, and reports what went wrong if
something did. Where the recipient has not agreed yet, it asks for consent again.
"notices list" lists the IDs.`,
		Args: shell.Between(1, 1, "the ID of one notice"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.aNotice(c, args[0], func(ctx context.Context, s *shell.Connection, id int64) (string, error) {
				text := fmt.Sprintf("Notice %d was sent and taken.", id)
				list, err := s.River(user).Forwardings(ctx)
				if err == nil && slices.ContainsFunc(list, func(n client.Forwarding) bool { return n.ID == id && n.State == "waiting" }) {
					text = fmt.Sprintf("The recipient of notice %d was asked for consent.", id)
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

// aNotice does something with one notice and prints what it says.
func (p *commands) aNotice(c *cobra.Command, name string, act func(ctx context.Context, s *shell.Connection, id int64) (string, error)) error {
	id, err := noticeID(name)
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
