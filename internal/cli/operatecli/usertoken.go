package operatecli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/cli/shell"
)

// scopeList is the value of the flag --scope: words separated by commas. The flag may be repeated.
type scopeList struct{ list *[]string }

func (s scopeList) String() string {
	if s.list == nil {
		return ""
	}
	return strings.Join(*s.list, ",")
}

func (s scopeList) Type() string { return "words" }

func (s scopeList) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(account.Scopes(), word) {
			return fmt.Errorf("unknown scope %q: must be one or more of %s, separated by commas", word, strings.Join(account.Scopes(), ", "))
		}
		if !slices.Contains(*s.list, word) {
			*s.list = append(*s.list, word)
		}
	}
	return nil
}

// completeScopes suggests the scopes that the typed list does not contain yet.
func completeScopes(_ *cobra.Command, _ []string, typed string) (offers []string, _ cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	for _, word := range account.Scopes() {
		if !slices.Contains(strings.Split(before, ","), word) {
			offers = append(offers, before+word)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (p *commands) userToken() *cobra.Command {
	var r client.TokenRequest
	c := shell.ServerFlags(&cobra.Command{
		Use:   "token NAME",
		Short: "Create a token for a user's program",
		Long: `Creates a token and prints only the token on standard output. It is printed only this
once: the server stores a hash of it.

--scope selects the permissions: create, update and delete (posts and feeds), media
(upload files), read (private data of the user).`,
		Example: "  cloudburst user token alice --scope create,update --label \"phone\"",
		Args:    shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(r.Scopes) == 0 {
				return shell.Usagef("%s needs --scope with one or more of %s, separated by commas", c.CommandPath(), strings.Join(account.Scopes(), ", "))
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				t, err := s.NewToken(ctx, args[0], r)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Err, "Token %s of %s for %s; it is shown only once:\n", t.ID, t.User, strings.Join(t.Scopes, ", "))
				_, err = fmt.Fprintln(p.Out, t.Token)
				return err
			})
		},
	})
	c.Flags().Var(scopeList{&r.Scopes}, "scope", "permissions (`words`: "+strings.Join(account.Scopes(), ", ")+")")
	// This cannot fail: the only error is an unknown flag, and the line above adds the flag.
	_ = c.RegisterFlagCompletionFunc("scope", completeScopes)
	c.Flags().StringVar(&r.Label, "label", "", "`text` to identify the token, shown in lists")
	return c
}

func (p *commands) userTokens() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "tokens NAME",
		Short: "List a user's tokens",
		Long: `Lists the IDs of a user's tokens. The server does not store the tokens themselves.

--json prints one object per line: id, user, label, scopes, created_at, used_at.`,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			list := shell.Each(s.Tokens(ctx, args[0]))
			return shell.PrintList(p.Out, list, asJSON, []string{"ID", "SCOPES", "LABEL", "CREATED", "USED"}, func(k *client.Token) []string {
				return []string{k.ID, strings.Join(k.Scopes, ","), k.Label, shell.FormatTime(&k.CreatedAt), shell.FormatTime(k.UsedAt)}
			})
		}),
	})
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func (p *commands) userRevoke() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "revoke NAME ID",
		Short: "Revoke a token",
		Long:  "Revokes the token of a user with this ID; \"user tokens\" prints the IDs.",
		Args:  shell.Between(2, 2, "the NAME of a user and the ID of a token"),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, args []string) error {
			return p.ReportSuccess(s.RevokeToken(ctx, args[0], args[1]), "Token %s of %s is revoked.\n", args[1], args[0])
		}),
	})
}
