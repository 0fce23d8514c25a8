package operatecli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/account"
	"cloudburst/internal/cli/shell"
)

// scopeList is the flag --scope: words with commas between them, also in several flags.
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
			return fmt.Errorf("there is no scope %q: it needs one or more of %s, with commas between them", word, strings.Join(account.Scopes(), ", "))
		}
		if !slices.Contains(*s.list, word) {
			*s.list = append(*s.list, word)
		}
	}
	return nil
}

// completeScopes offers the scopes that are not in the list yet.
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
		Short: "Make a token by which a program acts for a user",
		Long: `Makes a token and prints it, and nothing else, on standard output. This is the only
time that it can be seen: the server keeps what is enough to know it again.

--scope says what it opens: create, update and delete posts and feeds, media (send
files), read (what only the user may see).`,
		Example: "  cloudburst user token alice --scope create,update --label \"phone\"",
		Args:    shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(r.Scopes) == 0 {
				return shell.Usagef("%s needs --scope with one or more of %s, with commas between them", c.CommandPath(), strings.Join(account.Scopes(), ", "))
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				t, err := s.NewToken(ctx, args[0], r)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.Err, "Token %s of %s for %s; it is shown this once:\n", t.ID, t.User, strings.Join(t.Scopes, ", "))
				_, err = fmt.Fprintln(p.Out, t.Token)
				return err
			})
		},
	})
	c.Flags().Var(scopeList{&r.Scopes}, "scope", "what it opens (`words`: "+strings.Join(account.Scopes(), ", ")+")")
	// The error says that the flag does not exist; it was added a line above.
	_ = c.RegisterFlagCompletionFunc("scope", completeScopes)
	c.Flags().StringVar(&r.Label, "label", "", "`text` by which the user knows it again")
	return c
}

func (p *commands) userTokens() *cobra.Command {
	var asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "tokens NAME",
		Short: "List a user's tokens",
		Long: `Lists a user's tokens, by their IDs: the tokens themselves are not kept.

--json prints one object a line: id, user, label, scopes, created_at, used_at.`,
		Args: shell.Between(1, 1, "the NAME of one user"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				list, err := s.Tokens(ctx, args[0])
				if err != nil {
					return err
				}
				return p.printTokens(list, asJSON)
			})
		},
	})
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

func (p *commands) printTokens(list []client.Token, asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	enc := shell.JSONLines(out)
	t := shell.NewTable(p.Out, "ID", "SCOPES", "LABEL", "CREATED", "USED")
	for _, k := range list {
		var err error
		if asJSON {
			err = enc.Encode(k)
		} else {
			err = t.Row(k.ID, strings.Join(k.Scopes, ","), k.Label, shell.FormatTime(&k.CreatedAt), shell.FormatTime(k.UsedAt))
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

func (p *commands) userRevoke() *cobra.Command {
	return shell.ServerFlags(&cobra.Command{
		Use:   "revoke NAME ID",
		Short: "End a token",
		Long:  "Ends the token of a user that has this ID; \"user tokens\" lists them.",
		Args:  shell.Between(2, 2, "the NAME of a user and the ID of a token"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				if err := s.RevokeToken(ctx, args[0], args[1]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.Out, "Token %s of %s opens nothing any more.\n", args[1], args[0])
				return err
			})
		},
	})
}
