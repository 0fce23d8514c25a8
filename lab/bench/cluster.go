package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// databaseEnv names the environment variable with the URL of a PostgreSQL server, used if
// --database is not set. packaging/with-postgres.sh sets the variable.
const databaseEnv = "CLOUDBURST_TEST_POSTGRES"

// Cluster measures the notifications of one feed with many subscribers. One node on PostgreSQL
// sends the notifications, then two nodes on the same PostgreSQL, then one node on SQLite.
type Cluster struct {
	Common
	Subscribers int // subscribers of the feed [50,000]
}

// These are the kinds of rounds, named after the nodes that notify.
const (
	byOne    = "one node"
	byTwo    = "two nodes"
	bySQLite = "SQLite"
)

// clusterStage is a stage for the first node, with the additional nodes.
type clusterStage struct {
	*stage
	n      int
	second *server // second node on PostgreSQL; nil if no second node is running
	lite   *server
	share  []float64 // percentage of notifications that the second node sent, in each round
	again  int64
}

func (c Cluster) Run(ctx context.Context) (*Report, error) {
	c.Subscribers, c.Rounds = orElse(c.Subscribers, 50_000), orElse(c.Rounds, 5)
	if c.Database == "" {
		c.Database = os.Getenv(databaseEnv)
	}
	if c.Database == "" || c.Subscribers < 1 {
		return nil, fmt.Errorf("cluster needs subscribers (%d) and an empty PostgreSQL database: give it with --database postgres://…, or run packaging/with-postgres.sh COMMAND", c.Subscribers)
	}
	s, err := openStage("cluster", c.Common, Plan{Feeds: 1, FeedSize: 4096})
	if err != nil {
		return nil, err
	}
	s.option("subscribers", c.Subscribers)
	k := &clusterStage{stage: s, n: c.Subscribers}
	err = k.run(ctx)
	for _, other := range []*server{k.second, k.lite} {
		if other != nil {
			err = errors.Join(err, other.stop(stopWithin))
		}
	}
	return s.end(err)
}

// run measures all kinds in each round. Each round starts with a different kind, so that other
// load on the machine affects all kinds alike.
func (k *clusterStage) run(ctx context.Context) error {
	if err := k.serveEmpty(ctx); err != nil {
		return err
	}
	var err error
	if k.lite, err = k.node(ctx, "lite", ""); err != nil {
		return err
	}
	of := func(i int) registration {
		return registration{feed: k.receiver.feedURL(0), callback: k.receiver.callback(i, false)}
	}
	for _, srv := range []*server{k.server, k.lite} {
		if err := srv.importAll(ctx, k.n, of, func(done, total int) { k.progress.Step("register", done, total) }); err != nil {
			return err
		}
	}
	kinds := []string{byOne, byTwo, bySQLite}
	rates, cpus := map[string][]float64{}, map[string][]float64{}
	for n := range k.Rounds + 1 { // the first round opens connections and is not counted
		for i := range kinds {
			kind := kinds[(n+i)%len(kinds)]
			nodes, fresh, err := k.with(ctx, kind)
			if err == nil && fresh && n > 0 { // an uncounted round opens the connections of the new node
				_, _, err = k.round(ctx, nodes, kind, 0)
			}
			var rate, cpu float64
			if err == nil {
				rate, cpu, err = k.round(ctx, nodes, kind, n)
			}
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", n, kind, err)
			}
			if n > 0 {
				rates[kind], cpus[kind] = append(rates[kind], rate), append(cpus[kind], cpu)
			}
		}
	}
	k.figures(rates, cpus)
	return nil
}

// node starts another server, on the database or, if database is "", on SQLite in its own folder.
func (k *clusterStage) node(ctx context.Context, name, database string) (*server, error) {
	data := filepath.Join(k.dir, name)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	if database != "" { // all nodes of a database need the same key
		key, err := os.ReadFile(filepath.Join(k.server.data, "secret.key"))
		if err == nil {
			err = os.WriteFile(filepath.Join(data, "secret.key"), key, 0o600)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return startServer(ctx, k.Exe, k.dir, serverPlan{data: data, database: database, noFile: k.NoFile, extra: k.ServerFlags})
}

// with starts or stops the second node as the kind of round requires, and returns the nodes that
// notify. fresh is true if the second node was just started.
func (k *clusterStage) with(ctx context.Context, kind string) (nodes []*server, fresh bool, err error) {
	switch {
	case kind == bySQLite:
		return []*server{k.lite}, false, nil
	case kind == byTwo && k.second == nil:
		k.second, err = k.node(ctx, "second", k.Database)
		fresh = true
	case kind == byOne && k.second != nil:
		err = k.second.stop(stopWithin)
		k.second = nil
	}
	nodes = []*server{k.server}
	if k.second != nil {
		nodes = append(nodes, k.second)
	}
	return nodes, fresh, err
}

// round changes the feed, pings the first node, and waits for the last notification. rate is in
// notifications per second; cpu is the CPU time of all nodes, in microseconds per notification.
func (k *clusterStage) round(ctx context.Context, nodes []*server, kind string, n int) (rate, cpu float64, err error) {
	notified := make([]int64, len(nodes))
	var used time.Duration
	for i, srv := range nodes {
		st, err := srv.settle(ctx)
		if err != nil {
			return 0, 0, err
		}
		notified[i] = st.Totals.Notified
		used -= srv.usage().cpu
	}
	if err := k.receiver.reset(k.n); err != nil {
		return 0, 0, err
	}
	if err := k.receiver.call("change", []span{{From: 0, To: 1}}, nil); err != nil {
		return 0, 0, err
	}
	t0 := time.Now()
	if err := newPinger(nodes[0].listen, 1).ping(ctx, k.receiver.feedURL(0)); err != nil {
		return 0, 0, err
	}
	if err := k.receiver.wait(ctx, k.n, notifyTimeout, k.step(fmt.Sprintf("round %d, %s", n, kind), k.n)); err != nil {
		return 0, 0, err
	}
	for i, srv := range nodes {
		used += srv.usage().cpu
		st, err := srv.settle(ctx)
		if err != nil {
			return 0, 0, err
		}
		notified[i] = st.Totals.Notified - notified[i]
	}
	a, err := k.receiver.arrivals(0, k.n, t0)
	if err != nil {
		return 0, 0, err
	}
	k.again += a.Again
	if kind == byTwo && n > 0 {
		k.share = append(k.share, 100*float64(notified[1])/float64(k.n))
	}
	return float64(k.n) / a.Last, float64(used.Microseconds()) / float64(k.n), nil
}

func (k *clusterStage) figures(rates, cpus map[string][]float64) {
	r := &k.report
	for _, kind := range []string{byOne, byTwo, bySQLite} {
		r.addMedian(kind, rates[kind], "1/s").note("from the ping to the last")
	}
	for _, kind := range []string{byOne, byTwo, bySQLite} {
		r.addMedian(kind+", CPU", cpus[kind], "µs each").note("of the nodes, not of the database")
	}
	r.addMedian("notified by the second node", k.share, "%")
	r.addMedian("two nodes ÷ one", each(rates[byTwo], rates[byOne]), "×").target("≥", 0.9).note("on one machine: what two lose by sharing the work")
	r.addMedian("PostgreSQL ÷ SQLite", each(rates[byOne], rates[bySQLite]), "×").target("≥", 0.8)
	r.add("duplicates", float64(k.again), "").target("=", 0).note("of all rounds")
}

func clusterCommand() *cobra.Command {
	var o Cluster
	c := &cobra.Command{
		Use:   "cluster",
		Short: "Two nodes on one database: what do they lose by sharing the work?",
		Long: `Starts a node on an empty PostgreSQL database, a second one on the same database in
every other round, and a server on SQLite. In turn, one node, both, and the one on SQLite
notify the subscribers of one feed. On one machine two nodes cannot be quicker
than one: how much slower they are is what sharing the work costs.

The database is the one of --database, or of the variable CLOUDBURST_TEST_POSTGRES, which
packaging/with-postgres.sh sets.`,
		Args: cobra.NoArgs,
	}
	asJSON := common(c, &o.Common, 1000, 5)
	c.Flags().IntVar(&o.Subscribers, "subscribers", 50_000, "subscribers of the feed")
	c.RunE = func(c *cobra.Command, _ []string) error { return measure(c, &o.Common, asJSON, o.Run) }
	return c
}
