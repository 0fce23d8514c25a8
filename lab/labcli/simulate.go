package labcli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
	"cloudburst/lab/bench"
	"cloudburst/lab/simulate"
)

// simulateFlags are the flags of "simulate".
type simulateFlags struct {
	load        simulate.Load
	machine     simulate.Machine
	memory, nic string
	disk        string
	content     string
	answer      time.Duration
	costs       string
	chart       string
	seed        uint64
	json, try   bool
}

func simulateCommand() *cobra.Command {
	o := simulateFlags{load: simulate.Standard(), machine: simulate.StandardMachine()}
	c := &cobra.Command{
		Use:   "simulate",
		Short: "How many machines does a hub of that size need, and what breaks first?",
		Long: `Computes what a load needs from what single things were measured to cost: the file that
"cloudburst-lab bench costs" writes, one of which is in the program. Nothing is started.

  cloudburst-lab simulate                                     the open web
  cloudburst-lab simulate --subscriptions 1e6 --feeds 1e5 --pings 20 --notifications 1000
  cloudburst-lab bench costs --database postgres://… -o my.json
  cloudburst-lab simulate --costs my.json --chart chart.svg   with the costs of your machine

Where pings, feeds, subscriptions and notifications do not fit each other, it says so, and
what was taken. docs/simulation.md says what the model is, and what it leaves out.

With --check the real program runs for some seconds, and what the costs foretell for that
is compared with what it used.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return shell.AsUsageError(fmt.Errorf("%s takes no arguments, but got %q", c.CommandPath(), args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return runSimulate(c, &o) },
	}
	o.bind(c.Flags())
	return c
}

func (o *simulateFlags) bind(f *pflag.FlagSet) {
	l, m := &o.load, &o.machine
	f.StringVar(&o.costs, "costs", "", "a file that \"bench costs\" wrote (by default the one in the program)")
	f.Float64Var(&l.Feeds, "feeds", l.Feeds, "feeds that somebody follows")
	f.Float64Var(&l.Subscriptions, "subscriptions", l.Subscriptions, "subscriptions of all of them")
	f.Float64Var(&l.Pings, "pings", l.Pings, "pings a second")
	f.Float64Var(&l.Notifications, "notifications", l.Notifications, "notifications a second")
	f.Float64Var(&l.Changed, "changed", l.Changed, "share of the pings that find a change")
	f.Float64Var(&l.Zipf, "zipf", l.Zipf, "exponent: the k-th feed has 1/k^zipf as many subscribers as the first")
	f.Float64Var(&l.WebSub, "websub", l.WebSub, "share of the subscriptions that get the content")
	f.Float64Var(&l.HTTPS, "https", l.HTTPS, "share of the callbacks that speak TLS")
	f.Float64Var(&l.Kept, "kept", l.Kept, "share of the notifications on a connection that is open already")
	f.Float64Var(&l.LargestHost, "largest-host", l.LargestHost, "share of the callbacks on one host")
	f.Float64Var(&l.Churn, "churn", l.Churn, "share of the subscriptions that are new each day")
	f.Float64Var(&l.Polled, "polled", l.Polled, "feeds read here for readers, each once an hour")
	f.DurationVar(&o.answer, "answer", 150*time.Millisecond, "how long a callback takes to answer")
	f.StringVar(&o.content, "content", "10kB", "size of a content that is kept for WebSub")
	f.Float64Var(&m.Cores, "cores", m.Cores, "cores of a machine")
	f.StringVar(&o.memory, "memory", "64GiB", "its memory")
	f.StringVar(&o.nic, "nic", "10Gbit", "its network, each way")
	f.Float64Var(&m.IOPS, "disk-iops", m.IOPS, "operations a second of a database's disk")
	f.StringVar(&o.disk, "disk", "8TiB", "its size")
	f.Float64Var(&m.Files, "files", m.Files, "open files of a node")
	f.Float64Var(&m.InFlight, "in-flight", m.InFlight, "notifications under way of a node (hub.max-in-flight)")
	f.Float64Var(&m.DatabaseConns, "database-connections", m.DatabaseConns, "connections that a database takes")
	f.Float64Var(&m.Headroom, "headroom", m.Headroom, "share of a machine that may be in use")
	f.Uint64Var(&o.seed, "seed", 1, "decides what arrives in the failures that are played")
	f.StringVar(&o.chart, "chart", "", "draw machines and bytes for 10^4 to 10^10 subscriptions, and the failures, into this file (SVG)")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.BoolVar(&o.try, "check", false, "run the real program on SQLite and compare it with what the costs foretell")
}

func runSimulate(c *cobra.Command, o *simulateFlags) error {
	costs, err := o.read()
	if err != nil {
		return err
	}
	if o.try {
		return trySimulate(c, costs)
	}
	for _, v := range []struct {
		flag, text string
		into       *float64
		parse      func(string) (float64, error)
	}{
		{"memory", o.memory, &o.machine.Memory, parseSize}, {"nic", o.nic, &o.machine.NIC, simulate.ParseRate},
		{"disk", o.disk, &o.machine.Disk, parseSize}, {"content", o.content, &o.load.Content, parseSize},
	} {
		if *v.into, err = v.parse(v.text); err != nil {
			return shell.AsUsageError(fmt.Errorf("--%s: %w", v.flag, err))
		}
	}
	o.load.Answer = o.answer.Seconds()
	r, err := simulate.NewReport(costs, o.load, o.machine, o.seed)
	if err != nil {
		return shell.AsUsageError(err)
	}
	if o.chart != "" {
		scales, err := simulate.Scales(costs, o.load, o.machine)
		if err != nil {
			return fmt.Errorf("the chart cannot be drawn: %w", err)
		}
		if err := os.WriteFile(o.chart, []byte(simulate.Chart(scales, r.Backlogs)), 0o644); err != nil { //nolint:gosec // an image for all users
			return err
		}
	}
	return r.Write(c.OutOrStdout(), o.json)
}

func parseSize(value string) (float64, error) {
	n, err := text.ParseSize(value)
	return float64(n), err
}

func (o *simulateFlags) read() (*simulate.Costs, error) {
	if o.costs == "" {
		return simulate.ReadCosts(simulate.Embedded())
	}
	data, err := os.ReadFile(o.costs)
	if err != nil {
		return nil, fmt.Errorf("--costs: %w", err)
	}
	costs, err := simulate.ReadCosts(data)
	if err != nil {
		return nil, fmt.Errorf("--costs %s: %w", o.costs, err)
	}
	return costs, nil
}

func trySimulate(c *cobra.Command, costs *simulate.Costs) error {
	tried, err := bench.Trial{Common: bench.Common{Progress: c.ErrOrStderr()}}.Run(c.Context())
	if err != nil {
		return err
	}
	foretold, err := costs.File.Foretell("sqlite", tried)
	if err != nil {
		return err
	}
	return foretold.Write(c.OutOrStdout())
}
