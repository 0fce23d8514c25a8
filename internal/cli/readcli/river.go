package readcli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

func (p *commands) river() *cobra.Command {
	var user string
	var q client.ItemQuery
	var once, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "river",
		Short: "Show the items of the followed feeds, and new ones live",
		Long: `Shows the last items and then each new item when it arrives, until you press Ctrl-C. On
a terminal the items are grouped by day and feed, with their text; other outputs get one
line per item. After a restart of the server the command reconnects without losing an
item.

--json prints one object per line: ` + itemFields + `.
Live items also have an event: new, edited or withdrawn.

Works on the running server. On the data folder it shows stored items only.`,
		Example: "  cloudburst river --category News\n  cloudburst river --json --limit 0 | jq -r .link",
		Args:    shell.Between(0, 0, ""),
		RunE: p.OnServer(func(ctx context.Context, s *shell.Connection, _ []string) error {
			w := &riverWatch{p: p, s: s, r: s.River(user), q: q, print: p.riverPrinter(asJSON), seen: map[int64]int64{}}
			return w.run(ctx, once)
		}),
	})
	itemFlags(c, &q, &user)
	c.Flags().IntVarP(&q.Limit, "limit", "n", 20, "start with at most this `number` of stored items; 0: only new items")
	c.Flags().BoolVar(&once, "once", false, "do not wait for new items")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// riverLine is an item in the output of --json.
type riverLine struct {
	Event string `json:"event,omitempty"` // change of the item: new, edited or withdrawn; "" for stored items
	client.Item
}

// riverWatch is one run of the command river.
type riverWatch struct {
	p     *commands
	s     *shell.Connection
	r     *client.River
	q     client.ItemQuery
	print func(kind string, it *client.Item) error
	seen  map[int64]int64 // key: ID of a recently printed item; value: Seq of the printed version
	after int64           // greatest Seq that the command has received
}

// seenFor is the time for which the command remembers printed items, in microseconds, the unit of
// Seq. It is longer than the history of the stream.
const seenFor = 60_000_000

func (w *riverWatch) run(ctx context.Context, once bool) error {
	// Remember the position of the stream before reading the list, so that the stream sends the
	// items that arrive during the read.
	st, err := w.r.Status(ctx)
	if err != nil {
		return err
	}
	w.after = st.Seq
	var list []client.Item
	if w.q.Limit > 0 {
		for it, err := range w.r.Items(ctx, w.q) {
			if err != nil {
				return err
			}
			list = append(list, it)
		}
	}
	for _, it := range slices.Backward(list) {
		if err := w.show("", &it); err != nil {
			return err
		}
	}
	switch {
	case once:
		return nil
	case !w.s.Running:
		fmt.Fprintln(w.p.Err, "No server is running, so no new items follow: start one with \"cloudburst serve\".")
		return nil
	case shell.IsTerminal(w.p.Out):
		fmt.Fprintln(w.p.Err, "Waiting for new items; press Ctrl-C to stop.")
	}
	err = w.follow(ctx)
	if ctx.Err() != nil {
		return nil // the user has interrupted the command
	}
	return err
}

// show prints an item, unless the same version was printed before.
func (w *riverWatch) show(kind string, it *client.Item) error {
	if w.seen[it.ID] >= it.Seq {
		return nil
	}
	if len(w.seen) > 10_000 {
		for id, seq := range w.seen {
			if seq < it.Seq-seenFor {
				delete(w.seen, id)
			}
		}
	}
	w.seen[it.ID] = it.Seq
	return w.print(kind, it)
}

// follow prints the stream and resumes it after an interruption.
func (w *riverWatch) follow(ctx context.Context) error {
	pause := shell.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}
	begun := w.after
	for {
		var printing error
		err := w.r.Follow(ctx, w.q, w.after, func(e client.ItemEvent) error {
			pause.Reset()
			w.after = max(w.after, e.Item.Seq)
			if _, shown := w.seen[e.Item.ID]; !shown && e.Item.Seq <= begun {
				return nil // a stored item that --limit has excluded
			}
			printing = w.show(e.Kind, &e.Item)
			return printing
		})
		if printing != nil {
			return printing
		}
		if e, ok := errors.AsType[*client.Error](err); ok && e.Status < 500 || ctx.Err() != nil {
			return err
		}
		if !pause.Begun() && !errors.Is(err, io.ErrUnexpectedEOF) {
			fmt.Fprintf(w.p.Err, "cloudburst: %s; trying again\n", shell.Sentence(err))
		}
		if err := shell.Wait(ctx, pause.Next()); err != nil {
			return err
		}
	}
}

// riverPrinter returns the function that prints items as JSON, for a terminal, or as plain lines.
func (p *commands) riverPrinter(asJSON bool) func(kind string, it *client.Item) error {
	out := bufio.NewWriter(p.Out)
	human := shell.IsTerminal(p.Out)
	screen := &riverScreen{w: out, width: func() int { return shell.TerminalWidth(p.Out) }, bold: human && !slices.ContainsFunc(p.Environ, func(kv string) bool {
		return kv == "TERM=dumb" || strings.HasPrefix(kv, "NO_COLOR=") && kv != "NO_COLOR="
	})}
	return func(kind string, it *client.Item) error {
		var err error
		switch {
		case asJSON:
			err = shell.JSONLines(out).Encode(riverLine{kind, *it})
		case human:
			screen.item(kind, it)
		default:
			err = printItemLine(out, it)
		}
		if err != nil {
			return err
		}
		return out.Flush()
	}
}
