package labcli

import (
	"github.com/spf13/cobra"

	"cloudburst/lab/compare"
)

func pagesCommand() *cobra.Command {
	o := compare.PageOptions{}
	var asJSON bool
	c := &cobra.Command{
		Use:   "pages",
		Short: "The pages of an author: how fast, compared with a constant handler?",
		Long: `Starts a server with an author, and a handler that repeats the same pages with the same
headers. Visitors without a session request both in turn, compressed, on 32 kept
connections. The table compares the rates and the CPU time of one request; 0.8 is the goal
for both.

Then the command saves posts, and fails if the next response does not show one.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.IntVar(&o.Posts, "posts", 50, "posts of the author, 1 to 10000")
	f.IntVar(&o.Saves, "saves", 100, "posts that must be on the page right after their save, 0 to 10000")
	f.IntVar(&o.Requests, "requests", 20_000, "requests of one page in each round, 100 to 10000000")
	f.IntVar(&o.Rounds, "rounds", 5, "rounds of each program, 1 to 100")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return printComparison(c, asJSON, func(exe string) (*compare.Report, error) {
			o.Exe, o.Progress = exe, c.ErrOrStderr()
			return o.Run(c.Context())
		})
	}
	return c
}

// constantCommand returns the command that serves recorded pages. pagesCommand compares the
// server with it.
func constantCommand() *cobra.Command {
	return &cobra.Command{
		Use: "constant ADDRESS FILE", Hidden: true, Short: "The constant handler of bench pages", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return compare.ServeConstant(c.Context(), args[0], args[1])
		},
	}
}
