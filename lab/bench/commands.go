package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// Commands are those that belong below "cloudburst-lab bench".
func Commands() []*cobra.Command {
	return []*cobra.Command{clusterCommand(), costsCommand(), fanoutCommand(), pingCommand(), slowCommand(), changesCommand(), writeCommand(), pollCommand(), receiverCommand(), loopCommand(), feedsCommand()}
}

// common binds the flags that all have.
func common(c *cobra.Command, o *Common, hosts, rounds int) *bool {
	f := c.Flags()
	f.IntVar(&o.Hosts, "hosts", hosts, "quick callback hosts, each a loopback address of its own")
	f.IntVar(&o.Rounds, "rounds", rounds, "rounds that are measured, after one that is not; medians are told")
	f.IntVar(&o.Rounds, "runs", rounds, "the same as --rounds")
	f.IntVar(&o.Concurrent, "concurrent", 256, "requests under way at once in the loops that the server is compared with")
	f.StringVar(&o.Database, "database", "", "an empty PostgreSQL database made for this (postgres://…), in place of SQLite in a temporary folder")
	f.IntVar(&o.NoFile, "nofile", 0, "limit of open files of the server and the loops (0: as it is)")
	f.StringVar(&o.Profile, "cpuprofile", "", "write a CPU profile of the server during the first measured round to this file")
	f.StringVar(&o.MemProfile, "memprofile", "", "write a heap profile of the server at the end to this file (fanout)")
	f.StringArrayVar(&o.ServerFlags, "server-flag", nil, "a further flag for the server, such as --server-flag=--hub.max-in-flight=512; may be repeated")
	asJSON := f.Bool("json", false, "print one JSON document")
	_ = f.MarkHidden("runs") // it exists: defined above
	return asJSON
}

// measure runs one measurement and prints its report. A missed target is reported there, but
// is not a failure of the command.
func measure(c *cobra.Command, o *Common, asJSON *bool, run func(context.Context) (*Report, error)) error {
	o.Progress = c.ErrOrStderr()
	report, err := run(c.Context())
	if err != nil {
		return fmt.Errorf("bench %s: %w", c.Name(), err)
	}
	return report.Write(c.OutOrStdout(), *asJSON)
}

func fanoutCommand() *cobra.Command {
	var o Fanout
	var million bool
	c := &cobra.Command{
		Use:   "fanout",
		Short: "One feed changes: how fast do all its subscribers hear of it?",
		Long: `Starts a server on a temporary folder and a crowd of callback hosts, registers,
changes the feed, pings, and measures until the last notification. In turn with
it, the server's own sender and a net/http client send the same requests to the
same hosts without keeping any state: the ratios to them are what counts.

With --via websub subscribers get the feed itself. The callback hosts look at each
content's length, and at the bytes and the signature of some. Afterwards a server that
was just started tells all and a tenth of them: its memory must not grow with both.

With --million, 1,000,000 subscriptions of 1,000 feeds are imported instead, and
memory, the start on them and the first notification are measured.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 5)
	f := c.Flags()
	f.IntVar(&o.Subscribers, "subscribers", 10_000, "subscribers of the feed")
	f.BoolVar(&o.NewConnections, "new-connections", false, "the callback hosts close each connection after one answer")
	f.Float64Var(&o.SlowShare, "slow-share", 0, "share of the subscribers that are slow, 0 to 1; they have hosts of their own")
	f.DurationVar(&o.Slow, "slow", 5*time.Second, "how long slow ones take to answer")
	f.StringVar(&o.Register, "register", "", "door (each callback is asked for its consent) or import; by default door up to 2,000 subscribers")
	f.StringVar(&o.Via, "via", ViaRSSCloud, "rsscloud (subscribers are told the feed's URL) or websub (they get its bytes)")
	f.IntVar(&o.Size, "size", 4096, "bytes of the feed, 512 to 1048576")
	f.BoolVar(&o.Signed, "secret", false, "with websub, every subscriber has a secret and its content is signed; the loops sign too")
	f.IntVar(&o.Latency, "latency", 300, "pings of a small feed to measure latency with; -1: none")
	f.BoolVar(&million, "million", false, "1,000,000 subscriptions instead (--subscribers changes the number)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if !million {
			return measure(c, &o.Common, asJSON, o.Run)
		}
		m := Million{Common: o.Common}
		if c.Flags().Changed("subscribers") {
			m.Subscriptions = o.Subscribers
		}
		return measure(c, &m.Common, asJSON, func(ctx context.Context) (*Report, error) { return m.Run(ctx) })
	}
	return c
}

func pingCommand() *cobra.Command {
	var o Ping
	c := &cobra.Command{
		Use:   "ping",
		Short: "Many feeds are pinged: how many pings a second are checked and answered?",
		Long: `Starts a server with many feeds of one subscriber each, changes a share of them,
and pings all of them at its door. Each ping is made durable, the feed is read
and compared, and exactly the subscribers of the changed ones must be notified.
In turn with it, an endpoint that does the same and keeps nothing is pinged as
well: it is the floor.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 5)
	f := c.Flags()
	f.IntVar(&o.Feeds, "feeds", 5000, "feeds, each pinged once a round")
	f.Float64Var(&o.Changed, "changed", 0.1, "share of them that did change, 0 to 1")
	f.IntVar(&o.Clients, "clients", 64, "pings under way at once")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func slowCommand() *cobra.Command {
	var o Slow
	c := &cobra.Command{
		Use:   "slow",
		Short: "Slow subscribers beside quick ones: who waits for whom?",
		Long: `Starts a server with two feeds: one with quick subscribers only, one with as many
quick ones and a crowd of slow ones on hosts of their own. What the quick ones
lose by the company, and whether anybody is taken for dead, is measured.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 3)
	f := c.Flags()
	f.IntVar(&o.Quick, "quick", 1000, "quick subscribers")
	f.IntVar(&o.Slow, "subscribers", 10_000, "slow subscribers")
	f.IntVar(&o.SlowHosts, "slow-hosts", 1000, "hosts of the slow ones")
	f.DurationVar(&o.Delay, "slow", 5*time.Second, "how long slow ones take to answer")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func changesCommand() *cobra.Command {
	var o Changes
	c := &cobra.Command{
		Use:   "changes",
		Short: "Sites ping and readers ask for the list of changes: how much of both?",
		Long: `Starts a server and pings it as weblogs.com's clients do, at a fixed rate: a ping is
late from the moment at which it was to be sent. Then the rate is raised until 1 in
100 waits for 50 ms. All pings must be on the list, also after the server was killed.
At last the list is read, plain, packed and conditionally, in turn with
http.ServeContent of the same bytes, alone and while pings come in.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1, 3)
	f := c.Flags()
	f.IntVar(&o.Rate, "rate", 1000, "pings a second")
	f.DurationVar(&o.During, "during", 5*time.Second, "how long pings come in each round")
	f.IntVar(&o.Clients, "clients", 64, "connections that pings come over")
	f.IntVar(&o.Readers, "readers", 16, "connections that the list is read over")
	f.IntVar(&o.Rows, "rows", 5000, "pings before anything is measured: the rows of the list")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func writeCommand() *cobra.Command {
	var o Write
	c := &cobra.Command{
		Use:   "write",
		Short: "Somebody saves a post: how soon does everybody know?",
		Long: `Starts a server, and measures how long it takes from the save of a post until the last
of its rssCloud subscribers was told, and until it is on the open river page of a reader
of the same server. Then posts are taken in, and saves of an author who has many are
compared, in turn, with those of one who has ten.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 1)
	f := c.Flags()
	f.IntVar(&o.Subscribers, "subscribers", 1000, "subscribers of the feed")
	f.IntVar(&o.Saves, "saves", 50, "saves of each kind that are measured")
	f.IntVar(&o.Posts, "posts", 100_000, "posts of the author who has many")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func receiverCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sink", Hidden: true, Short: "The callback hosts and feeds of a measurement", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return ServeReceiver(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}

func loopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "loop", Hidden: true, Short: "A sender without state, to compare with", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return ServeLoop(c.Context(), c.InOrStdin(), c.OutOrStdout())
		},
	}
}
