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

// simulateFlags are the flags of the command "simulate".
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
		Short: "Calculate the machines for a hub of a given size, and its first bottleneck",
		Long: `Calculates the needs of a load from the measured costs of single operations. The costs are
in a file that "cloudburst-lab bench costs" writes; the program contains one. The command
starts no server.

  cloudburst-lab simulate                                     the open web
  cloudburst-lab simulate --subscriptions 1e6 --feeds 1e5 --pings 20 --notifications 1000
  cloudburst-lab bench costs --database postgres://… --citus postgres://… -o my.json
  cloudburst-lab simulate --costs my.json --chart chart.svg   with the costs of your machine

With costs of a Citus cluster, the report states how much of the load one hub on such a
cluster handles: all its nodes use one coordinator.

If pings, feeds, subscriptions and notifications do not fit together, the report states the
assumptions. docs/internals/simulation.md describes the model and its limits.

With --check the real program runs for some seconds, and the command compares the predicted
processor time with the measured one.`,
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
	f.StringVar(&o.costs, "costs", "", "file written by \"bench costs\" (default: the one in the program)")
	f.Float64Var(&l.Feeds, "feeds", l.Feeds, "feeds with subscribers")
	f.Float64Var(&l.Subscriptions, "subscriptions", l.Subscriptions, "subscriptions of all feeds")
	f.Float64Var(&l.Pings, "pings", l.Pings, "pings per second")
	f.Float64Var(&l.Notifications, "notifications", l.Notifications, "notifications per second")
	f.Float64Var(&l.Changed, "changed", l.Changed, "share of the pings that find a change")
	f.Float64Var(&l.Zipf, "zipf", l.Zipf, "exponent: the k-th feed has 1/k^zipf as many subscribers as the first")
	f.Float64Var(&l.WebSub, "websub", l.WebSub, "share of the subscriptions that receive the content")
	f.Float64Var(&l.HTTPS, "https", l.HTTPS, "share of the callbacks with TLS")
	f.Float64Var(&l.Kept, "kept", l.Kept, "share of the notifications on an open connection")
	f.Float64Var(&l.LargestHost, "largest-host", l.LargestHost, "share of the callbacks on one host")
	f.Float64Var(&l.Churn, "churn", l.Churn, "share of the subscriptions that are new each day")
	f.Float64Var(&l.Polled, "polled", l.Polled, "feeds polled for users, each once an hour")
	f.DurationVar(&o.answer, "answer", 150*time.Millisecond, "response time of a callback")
	f.StringVar(&o.content, "content", "10kB", "size of the stored content of a feed with WebSub")
	f.Float64Var(&m.Cores, "cores", m.Cores, "cores of a machine")
	f.StringVar(&o.memory, "memory", "64GiB", "memory of a machine")
	f.StringVar(&o.nic, "nic", "10Gbit", "network of a machine, in each direction")
	f.Float64Var(&m.IOPS, "disk-iops", m.IOPS, "operations per second of the disk of a database")
	f.StringVar(&o.disk, "disk", "8TiB", "disk of a database")
	f.Float64Var(&m.Files, "files", m.Files, "open files of a node")
	f.Float64Var(&m.InFlight, "in-flight", m.InFlight, "concurrent notifications of a node (hub.max-in-flight)")
	f.Float64Var(&m.DatabaseConns, "database-connections", m.DatabaseConns, "connection limit of a database")
	f.Float64Var(&m.Headroom, "headroom", m.Headroom, "usable share of a machine")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the arrivals in the simulated failures")
	f.StringVar(&o.chart, "chart", "", "write a chart of machines and bytes for 10^4 to 10^10 subscriptions, and of the failures, to this SVG file")
	f.BoolVar(&o.json, "json", false, "print one JSON document")
	f.BoolVar(&o.try, "check", false, "run the real program on SQLite and compare it with the predicted costs")
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
			return fmt.Errorf("draw the chart: %w", err)
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
	prediction, err := costs.File.Predict("sqlite", tried)
	if err != nil {
		return err
	}
	return prediction.Write(c.OutOrStdout())
}
