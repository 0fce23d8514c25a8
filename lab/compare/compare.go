package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"cloudburst/lab/bench"
)

const ours = "Cloudburst"

// These are the names of the figures.
const (
	registered    = "registrations in sequence"
	notified      = "notifications"
	firstNotified = "ping → first notification"
	notifyCPU     = "CPU of one notification"
	firstReading  = "first reading, all items stored"
	firstCPU      = "CPU of a first reading"
	unchanged     = "all unchanged"
	unchangedCPU  = "CPU of an unchanged feed"
	oneNew        = "one new item each, all stored"
	oneNewCPU     = "CPU of a feed with one new item"
	lost          = "items lost"
)

// units returns the unit of each figure. For "/s", a higher value is better; for other units, a
// lower value is better.
func units() map[string]string {
	return map[string]string{
		registered: "/s", notified: "/s", firstNotified: "ms", notifyCPU: "µs",
		firstReading: "/s", firstCPU: "µs", unchanged: "/s", unchangedCPU: "µs", oneNew: "/s", oneNewCPU: "µs",
	}
}

// InvalidError reports that the options are invalid. Its text names the option to change.
type InvalidError struct{ text string }

func (e *InvalidError) Error() string { return e.text }

// Options name the programs to compare and the amount of work. Run does not download programs.
type Options struct {
	RSSCloudServer   string    // command line that starts rsscloud-server, separated by spaces; "" skips this program
	Yarr             string    // path of yarr's executable; "" skips this program
	Miniflux         string    // path of Miniflux's executable; "" skips this program
	MinifluxDatabase string    // URLs of empty PostgreSQL databases for Miniflux, one for each round, separated by spaces
	Exe              string    // path of an executable that runs this server for the argument "serve"
	Subscribers      int       // number of subscribers of one feed, each on its own loopback address
	Pings            int       // number of measured changes of this feed in each round
	Feeds            int       // number of feeds that a reader follows
	Items            int       // number of items in each feed
	Size             int       // approximate size of each feed in bytes
	Rounds           int       // number of rounds that run the programs in turn; the table shows medians
	Progress         io.Writer // receives one line for each measured value
}

// Row compares one figure.
type Row struct {
	Figure string    `json:"figure"`
	Unit   string    `json:"unit"`
	Ours   []float64 `json:"cloudburst"` // one value for each round
	Theirs []float64 `json:"other"`
	Ratio  float64   `json:"ratio"`            // how many times better Cloudburst is; below 1 means worse; 0 means that a value is 0
	Target float64   `json:"target,omitempty"` // minimum of Ratio; 0 means no target
}

// Comparison is the result of the comparison with one other program.
type Comparison struct {
	Program string `json:"program"`
	Rows    []Row  `json:"figures"`
}

// Report is the result of a run.
type Report struct {
	At          time.Time     `json:"at"`
	Machine     bench.Machine `json:"machine"`
	Rounds      int           `json:"rounds"`
	Comparisons []Comparison  `json:"comparisons"`
}

// round measures a program once on an empty folder. It calls add for each figure.
type round func(ctx context.Context, add func(figure string, value float64)) error

// Run compares this program with each program that the options name, in turn.
func (o Options) Run(ctx context.Context) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	report := &Report{At: time.Now().UTC(), Machine: bench.ThisMachine(), Rounds: o.Rounds}
	hub := func(s startHub) round {
		return func(ctx context.Context, add func(string, float64)) error { return o.hub(ctx, s, add) }
	}
	read := func(s startReader) round {
		return func(ctx context.Context, add func(string, float64)) error { return o.reader(ctx, s, add) }
	}
	for _, pair := range []struct {
		name, given string
		ours, other round
	}{
		{"rsscloud-server", o.RSSCloudServer, hub(o.ourHub), hub(o.rsscloudServer)},
		{"yarr", o.Yarr, read(o.ourReader), read(o.yarr)},
		{"Miniflux", o.Miniflux, read(o.ourReader), read(o.miniflux(strings.Fields(o.MinifluxDatabase)))},
	} {
		if pair.given == "" {
			continue
		}
		rows, err := o.pair(ctx, pair.name, pair.ours, pair.other)
		if err != nil {
			return nil, err
		}
		report.Comparisons = append(report.Comparisons, Comparison{pair.name, rows})
	}
	return report, nil
}

// check returns an [InvalidError] if the options are invalid.
func (o Options) check() error {
	if o.RSSCloudServer == "" && o.Yarr == "" && o.Miniflux == "" {
		return &InvalidError{"no program to compare with: name at least one of --rsscloud-server, --yarr and --miniflux"}
	}
	if n := len(strings.Fields(o.MinifluxDatabase)); o.Miniflux != "" && n != o.Rounds {
		return &InvalidError{fmt.Sprintf("--miniflux-database names %d databases for %d rounds: name an empty database for each round, separated by spaces", n, o.Rounds)}
	}
	return checkLimits([]limit{
		{"subscribers", o.Subscribers, 1, 5000}, {"pings", o.Pings, 1, 1000}, {"feeds", o.Feeds, 1, 5000},
		{"items", o.Items, 1, 200}, {"size", o.Size, 1000, 1_000_000}, {"rounds", o.Rounds, 1, 100},
	})
}

// limit is the allowed range of an option, named by its flag.
type limit struct {
	flag            string
	value, min, max int
}

func checkLimits(list []limit) error {
	for _, l := range list {
		if l.value < l.min || l.value > l.max {
			return &InvalidError{fmt.Sprintf("invalid value %d for --%s: must be from %d to %d", l.value, l.flag, l.min, l.max)}
		}
	}
	return nil
}

// pair runs the rounds of two programs alternately, and returns a row for each figure.
func (o Options) pair(ctx context.Context, name string, our, other round) ([]Row, error) {
	var rows []Row
	at := map[string]int{}
	row := func(figure string) *Row {
		if _, ok := at[figure]; !ok {
			at[figure] = len(rows)
			rows = append(rows, Row{Figure: figure, Unit: units()[figure]})
		}
		return &rows[at[figure]]
	}
	for i := range o.Rounds {
		one := func(name string, run round, values func(*Row) *[]float64) error {
			return run(ctx, func(figure string, v float64) {
				list := values(row(figure))
				*list = append(*list, v)
				fmt.Fprintf(o.Progress, "round %d of %d: %s: %s: %s %s\n", i+1, o.Rounds, name, figure, number(v), units()[figure])
			})
		}
		if err := one(ours, our, func(r *Row) *[]float64 { return &r.Ours }); err != nil {
			return nil, err
		}
		if err := one(name, other, func(r *Row) *[]float64 { return &r.Theirs }); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		rows[i].compare()
	}
	return rows, nil
}

// compare computes the ratio from the medians of both programs.
func (r *Row) compare() {
	mine, other := bench.Median(r.Ours), bench.Median(r.Theirs)
	if r.Unit != "/s" {
		mine, other = other, mine
	}
	if other > 0 {
		r.Ratio = mine / other
	}
}

// Write prints the report as one JSON document if asJSON is true, otherwise as a table for each
// program.
func (r *Report) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	m := r.Machine
	fmt.Fprintf(w, "%s, %d CPUs, %d MiB, load %.1f before; medians of %d alternating rounds\nA ratio above 1 means that Cloudburst is better.\n", m.System, m.CPUs, m.MemoryMiB, m.Load, r.Rounds)
	for _, c := range r.Comparisons {
		fmt.Fprintln(w)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "%s\t%s\tunit\tratio\ttarget\t\n", ours, c.Program)
		for _, row := range c.Rows {
			ratio, target := "–", ""
			if row.Ratio > 0 {
				ratio = fmt.Sprintf("%.2f", row.Ratio)
			}
			if row.Target > 0 && row.Ratio >= row.Target {
				target = fmt.Sprintf("≥ %.2f met", row.Target)
			} else if row.Target > 0 {
				target = fmt.Sprintf("≥ %.2f MISSED", row.Target)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", number(bench.Median(row.Ours)), number(bench.Median(row.Theirs)), row.Unit, ratio, target, "  "+row.Figure)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// number formats v with at least three significant digits.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
