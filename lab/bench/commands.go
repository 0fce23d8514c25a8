package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// Commands returns the subcommands of "cloudburst-lab bench".
func Commands() []*cobra.Command {
	return []*cobra.Command{clusterCommand(), costsCommand(), fanoutCommand(), pingCommand(), slowCommand(), changesCommand(), writeCommand(), pollCommand(), riverCommand(), receiverCommand(), loopCommand(), feedsCommand()}
}

// common defines the flags that all measurements have. It returns the value of --json.
func common(c *cobra.Command, o *Common, hosts, rounds int) *bool {
	f := c.Flags()
	f.IntVar(&o.Hosts, "hosts", hosts, "quick callback hosts, each a loopback address of its own")
	f.IntVar(&o.Rounds, "rounds", rounds, "measured rounds, after an unmeasured one; the report has their medians")
	f.IntVar(&o.Rounds, "runs", rounds, "the same as --rounds")
	f.IntVar(&o.Concurrent, "concurrent", 256, "requests under way at once in the loops that the server is compared with")
	f.StringVar(&o.Database, "database", "", "an empty PostgreSQL database made for this (postgres://…), in place of SQLite in a temporary folder")
	f.IntVar(&o.NoFile, "nofile", 0, "limit of open files of the server and the loops (0: as it is)")
	f.StringVar(&o.Profile, "cpuprofile", "", "write a CPU profile of the server during the first measured round to this file")
	f.StringVar(&o.MemProfile, "memprofile", "", "write a heap profile of the server at the end to this file (fanout)")
	f.StringArrayVar(&o.ServerFlags, "server-flag", nil, "a further flag for the server, such as --server-flag=--hub.max-in-flight=512; may be repeated")
	asJSON := f.Bool("json", false, "print one JSON document")
	_ = f.MarkHidden("runs") // the flag exists, because common defined it above
	return asJSON
}

// measure runs one measurement and prints its report. A missed target appears in the report, but
// the command still succeeds.
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
		Short: "One feed changes: how fast are all its subscribers notified?",
		Long: `Starts a server on a temporary folder and many callback hosts, registers,
changes the feed, pings, and measures until the last notification. Alternating with
it, the sender of the server and a net/http client send the same requests to the
same hosts without any state. The ratios to both are the relevant results.

With --via websub subscribers get the feed itself. The callback hosts check the length
of each content, and the bytes and the signature of some. Afterwards a fresh server
notifies a tenth of the subscribers, and then all: its memory must not grow.

With --million, 1,000,000 subscriptions of 1,000 feeds are imported instead, and
memory, the start on them and the first notification are measured.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 5)
	f := c.Flags()
	f.IntVar(&o.Subscribers, "subscribers", 10_000, "subscribers of the feed")
	f.BoolVar(&o.NewConnections, "new-connections", false, "the callback hosts close each connection after one answer")
	f.Float64Var(&o.SlowShare, "slow-share", 0, "share of the subscribers that are slow, 0 to 1; they have separate hosts")
	f.DurationVar(&o.Slow, "slow", 5*time.Second, "response time of the slow subscribers")
	f.StringVar(&o.Register, "register", "", "endpoint (the hub verifies each callback) or import; by default endpoint up to 2,000 subscribers")
	f.StringVar(&o.Via, "via", ViaRSSCloud, "rsscloud (notifications contain the URL of the feed) or websub (its content)")
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
		Short: "Many feeds are pinged: how many pings per second are checked and answered?",
		Long: `Starts a server with many feeds of one subscriber each, changes a share of them,
and pings all of them. The hub stores each ping, and reads and compares the feed.
It must notify exactly the subscribers of changed feeds. Alternating with it, an
endpoint that does the same without storing anything is pinged: the floor.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 5)
	f := c.Flags()
	f.IntVar(&o.Feeds, "feeds", 5000, "feeds, each pinged once a round")
	f.Float64Var(&o.Changed, "changed", 0.1, "share of changed feeds, 0 to 1")
	f.IntVar(&o.Clients, "clients", 64, "concurrent pings")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func slowCommand() *cobra.Command {
	var o Slow
	c := &cobra.Command{
		Use:   "slow",
		Short: "Slow and quick subscribers: do the slow ones delay the quick ones?",
		Long: `Starts a server with two feeds: one with quick subscribers only, one with as many
quick ones and many slow ones on separate hosts. The command measures the delay
of the quick subscribers, and whether the hub drops any subscriber.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 3)
	f := c.Flags()
	f.IntVar(&o.Quick, "quick", 1000, "quick subscribers")
	f.IntVar(&o.Slow, "subscribers", 10_000, "slow subscribers")
	f.IntVar(&o.SlowHosts, "slow-hosts", 1000, "hosts of the slow ones")
	f.DurationVar(&o.Delay, "slow", 5*time.Second, "response time of the slow subscribers")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func changesCommand() *cobra.Command {
	var o Changes
	c := &cobra.Command{
		Use:   "changes",
		Short: "Sites ping and clients read the recent changes: how many of both?",
		Long: `Starts a server and pings it as weblogs.com's clients do, at a fixed rate: a ping is
late from its scheduled time. Then the rate is raised until 1 in
100 waits for 50 ms. All pings must be in the list, also after a kill of the server.
Finally clients read the list: plain, compressed and conditionally, alternating with
http.ServeContent of the same bytes, without and with concurrent pings.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1, 3)
	f := c.Flags()
	f.IntVar(&o.Rate, "rate", 1000, "pings a second")
	f.DurationVar(&o.During, "during", 5*time.Second, "duration of the pings of each round")
	f.IntVar(&o.Clients, "clients", 64, "connections of the pings")
	f.IntVar(&o.Readers, "readers", 16, "connections that read the list")
	f.IntVar(&o.Rows, "rows", 5000, "pings before the measurement: the rows of the list")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func writeCommand() *cobra.Command {
	var o Write
	c := &cobra.Command{
		Use:   "write",
		Short: "An author saves a post: how soon are subscribers notified?",
		Long: `Starts a server, and measures how long it takes from the save of a post until the last
of its rssCloud subscribers is notified, and until it is on the open river page of a user
of the same server. Then the command imports posts, and compares saves of an author
with many posts with those of an author with ten, alternating.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 1)
	f := c.Flags()
	f.IntVar(&o.Subscribers, "subscribers", 1000, "subscribers of the feed")
	f.IntVar(&o.Saves, "saves", 50, "measured saves of each kind")
	f.IntVar(&o.Posts, "posts", 100_000, "posts of the author with many posts")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}

func receiverCommand() *cobra.Command {
	return &cobra.Command{
		Use: "receiver", Hidden: true, Short: "The callback hosts and feeds of a measurement", Args: cobra.NoArgs,
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
