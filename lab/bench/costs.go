package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/internal/cli/shell"
	"cloudburst/lab/database"
)

// Costs measures the cost of single operations of the server. It measures the CPU time of the
// server and not the elapsed time, so that other load on the machine has little effect.
type Costs struct {
	Common                // Hosts, Rounds and Concurrent have no effect
	For     time.Duration // approximate total duration; at least three repeats run [4 min]
	Size    int           // base of the number of operations in a repeat; each operation uses a multiple of Size [1,000]
	Citus   string        // URL of the coordinator of a Citus cluster; "": not measured
	Command string        // command line of the measurement, for the file
}

// These are the stores that are measured, and the first parts of the names of their costs.
const (
	onSQLite   = "sqlite"
	onPostgres = "postgres"
	onCitus    = "citus"
)

const (
	minRepeats  = 3
	maxRepeats  = 40
	costPieces  = 10 // number of measured operations for each store
	costHosts   = 200
	secureHosts = 20 // number of hosts for TLS; each notification transfers the certificate, which names every host
)

func costsCommand() *cobra.Command {
	var o Costs
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "costs",
		Short: "Measure the cost of one ping, notification and registration",
		Long: `Starts real servers on SQLite, on PostgreSQL with --database and on a Citus cluster with
--citus, and measures the cost of single operations: CPU time of the server and, if they
are on this machine, of the databases; bytes, connections, write transactions and
write-ahead log; memory and disk. "cloudburst-lab simulate" computes with the result.

The user of --database must be allowed to create databases: each part creates one and
deletes it. --citus names an empty database, whose tables every part replaces; at the end
they are empty. Nothing else should use the database servers during the measurement.`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.DurationVar(&o.For, "for", 4*time.Minute, "approximate duration")
	f.IntVar(&o.Size, "size", 1000, "base of the number of operations in a repeat")
	f.StringVar(&o.Database, "database", "", "also measure on this PostgreSQL server (postgres://…)")
	f.StringVar(&o.Citus, "citus", "", "also measure in this empty database of a Citus coordinator (postgres://…)")
	f.StringVarP(&file, "output", "o", "", "write the costs to this file, as JSON")
	f.BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		o.Progress = c.ErrOrStderr()
		o.Command = fmt.Sprintf("cloudburst-lab bench costs --for %s --size %d", o.For, o.Size)
		if o.Database != "" {
			o.Command += " --database postgres://…"
		}
		if o.Citus != "" {
			o.Command += " --citus postgres://…"
		}
		costs, err := o.Run(c.Context())
		if err != nil {
			return fmt.Errorf("bench costs: %w", err)
		}
		if file == "" {
			return costs.Write(c.OutOrStdout(), asJSON)
		}
		return costs.save(c.OutOrStdout(), file, asJSON)
	}
	return c
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// save writes f to file as JSON if file is not "", then prints f.
func (f *CostFile) save(w io.Writer, file string, asJSON bool) error {
	var b strings.Builder
	if err := f.Write(&b, true); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // figures without secrets
		return err
	}
	return f.Write(w, asJSON)
}

// Run runs the measurement and returns the costs.
func (b Costs) Run(ctx context.Context) (*CostFile, error) {
	b.Size = orElse(b.Size, 1000)
	if b.For == 0 {
		b.For = 4 * time.Minute
	}
	if b.Size < 50 || b.For < 0 {
		return nil, fmt.Errorf("costs cannot be measured with a size of %d for %s: 50 is the least size", b.Size, b.For)
	}
	b.Hosts, b.Rounds = costHosts, minRepeats
	begun := time.Now()
	book := &costBook{file: CostFile{Shape: CostShape, Command: b.Command, At: begun.UTC().Truncate(time.Second), CPU: cpuModel(), Machine: ThisMachine()}}
	stores := []string{onSQLite}
	if b.Database != "" {
		stores = append(stores, onPostgres)
	}
	if b.Citus != "" {
		stores = append(stores, onCitus)
	}
	each := b.For / time.Duration(costPieces*len(stores))
	notify := shell.NewProgress(orDiscard(b.Progress), "")
	for _, store := range stores {
		m := costMeter{Costs: b, book: book, store: store, each: each, progress: notify}
		if err := m.all(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", store, err)
		}
	}
	book.file.Took = time.Since(begun).Seconds()
	return &book.file, nil
}

// costMeter measures the costs on one kind of store.
type costMeter struct {
	Costs
	book     *costBook
	store    string
	each     time.Duration // time for the repeats of one operation
	progress *shell.Progress
}

func (m costMeter) all(ctx context.Context) error {
	parts := []struct {
		name string
		do   func(context.Context) error
	}{
		{"hub", m.hub},
		{"notify", m.notify},
		{"cluster", m.cluster},
		{"disk", m.disk},
		{"memory", m.memory},
		{"reading", m.reading},
	}
	for _, p := range parts {
		if err := p.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// costStage is a stage with its own database.
type costStage struct {
	*stage
	database *database.Database // nil means that the store is SQLite
}

// on starts a stage with the receiver plan p, runs part on it and closes the stage.
func (m costMeter) on(ctx context.Context, p Plan, part func(*costStage) error) (err error) {
	var s costStage
	c := m.Common
	if c.Database = ""; m.store != onSQLite {
		server := m.Database
		if m.store == onCitus {
			server = m.Citus
		}
		if s.database, err = database.Create(ctx, server, m.store == onCitus); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.database.Drop()) }()
		c.Database = s.database.URL
	}
	if p.TLS && p.Close {
		c.Hosts = secureHosts
	}
	if s.stage, err = openStage("costs", c, p); err != nil {
		return err
	}
	s.progress = m.progress // all stages share one progress display
	if err = s.trust(); err == nil {
		if err = s.serveEmpty(ctx); err == nil {
			err = part(&s)
		}
	}
	_, err = s.end(err)
	return err
}

// costBook collects the measured costs.
type costBook struct{ file CostFile }

// note adds a cost with its measured values. n is the total number of operations.
func (b *costBook) note(name, unit, what string, n int, values []float64) {
	b.file.Costs = append(b.file.Costs, Cost{
		Name: name, Unit: unit, What: what, N: n, Repeats: len(values),
		Value: digits(Median(values)), P10: digits(quantile(values, 0.1)), P90: digits(quantile(values, 0.9)),
	})
}

// value returns a recorded cost, or 0 if the cost is not recorded.
func (b *costBook) value(name string) float64 {
	i := slices.IndexFunc(b.file.Costs, func(c Cost) bool { return c.Name == name })
	if i < 0 {
		return 0
	}
	return b.file.Costs[i].Value
}
