package operatecli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) audit() *cobra.Command {
	var q client.AuditQuery
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "audit",
		Short: "List what administrators did",
		Long: `Lists the actions of administrators and of the operator, newest first: the time, the
actor, the action, its object and details. The pages below /admin and the commands that
change users, settings, blocks, subscriptions and backups add an entry before they act.

--json prints one object per line: id, at, actor, action, object, detail, address, via,
failed. An entry without an actor is from the operator.`,
		Example: "  cloudburst audit --limit 20\n  cloudburst audit --by alice --action user",
		Args:    shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			return shell.PrintList(p.Out, (client.Admin{Client: s.Client}).Audit(ctx, q), asJSON, []string{"TIME", "BY", "ACTION", "OBJECT", "DETAIL"}, func(e *client.AuditEntry) []string {
				return []string{shell.FormatTime(&e.At), actorOf(*e), e.Action, e.Object, detailOf(*e)}
			})
		}),
	})
	c.Flags().StringVar(&q.Actor, "by", "", "only actions of this `user`; - is the operator")
	c.Flags().StringVar(&q.Action, "action", "", "only this `action`, such as user.delete, or all of a kind: user, setting, block, subscription, backup")
	c.Flags().StringVar(&q.Match, "match", "", "only entries with this `text` in the object or detail")
	c.Flags().IntVar(&q.Limit, "limit", 100, "at most this `number`; 0 means all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func actorOf(e client.AuditEntry) string {
	return cmp.Or(e.Actor, "operator")
}

func detailOf(e client.AuditEntry) string {
	if e.Failed == "" {
		return shell.Clean(e.Detail)
	}
	return shell.Clean(strings.TrimSpace(e.Detail + " failed: " + e.Failed))
}

func (p *commands) block() *cobra.Command {
	c := shell.Group("block", "Block hosts, networks and topics",
		`The server neither reads feeds from a blocked host or network nor notifies it, and the
hub refuses a blocked topic. Blocks take effect at once.

Works on the running server, or on the data folder when none runs.`)
	c.AddCommand(p.blockAdd(), p.blockList(), p.blockRemove())
	return c
}

const blockArg = "one HOST, NETWORK or URL"

func (p *commands) blockAdd() *cobra.Command {
	var reason string
	c := shell.ServerFlags(&cobra.Command{
		Use:     "add HOST|NETWORK|URL",
		Short:   "Block a host with its subdomains, a network, or a feed",
		Long:    "Blocks a host with its subdomains (example.org), a network or IP address\n(192.0.2.0/24), or the URL of one feed.",
		Example: "  cloudburst block add spam.example --reason \"floods the hub\"\n  cloudburst block add 192.0.2.0/24",
		Args:    shell.Between(1, 1, blockArg),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			b, err := client.Admin{Client: s.Client}.AddBlock(ctx, args[0], reason)
			return p.ReportSuccess(err, "Blocked the %s %s.\n", b.Kind, shell.Clean(b.Value))
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "`text` for administrators")
	return c
}

func (p *commands) blockRemove() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "remove HOST|NETWORK|URL",
		Short: "Remove a block",
		Long:  "Removes a block. The server may read and notify the host, network or feed again.",
		Args:  shell.Between(1, 1, blockArg),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			return p.ReportSuccess(client.Admin{Client: s.Client}.RemoveBlock(ctx, args[0]), "%s is no longer blocked.\n", shell.Clean(args[0]))
		}),
	})
}

func (p *commands) blockList() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "list",
		Short: "List the blocks",
		Long:  "Lists the blocks.\n\n--json prints one object per line: kind, value, reason, created_at, created_by.",
		Args:  shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			list := shell.Each(client.Admin{Client: s.Client}.Blocks(ctx))
			return shell.PrintList(p.Out, list, asJSON, []string{"KIND", "VALUE", "SINCE", "REASON"}, func(b *client.Block) []string {
				return []string{b.Kind, b.Value, shell.FormatTime(&b.CreatedAt), b.Reason}
			})
		}),
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}
