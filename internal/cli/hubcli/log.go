package hubcli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
)

func eventKinds() []string {
	return []string{"ping", "check", "register", "verify", "notify", "error", "cancel", "drop", "expire", "save", "sink", "system"}
}

func (p *commands) log() *cobra.Command {
	var q client.LogQuery
	var since string
	var follow, asJSON bool
	c := shell.ServerFlags(&cobra.Command{
		Use:   "log",
		Short: "Print events of the hub's log, oldest first",
		Long: `Prints the hub's log: the newest 100 events, or with --since all events after that
time. With -f the command prints new events as they occur; after a restart of the server
it reconnects without losing an event. Square brackets contain details for the operator
only: the reason of a failed connection, or the exact request.

--json prints one object per line: id, at, kind, ok, text, topic_id, topic, door,
peer, took_ms, told, failed, version, detail.`,
		Example: "  cloudburst log -f --kind ping,check\n  cloudburst log --since 1h --topic http://example.org/rss.xml",
		Args:    shell.Between(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if q.Since, err = parseSince(since, time.Now()); err != nil {
				return err
			}
			for _, k := range q.Kinds {
				if !slices.Contains(eventKinds(), k) {
					return shell.Usagef("--kind is %q: valid kinds are %s", k, strings.Join(eventKinds(), ", "))
				}
			}
			if since == "" && q.Limit == 0 {
				q.Limit = 100
			}
			return p.WithServer(c, false, func(ctx context.Context, s *shell.Connection) error {
				return p.showLog(ctx, s, q, follow, asJSON)
			})
		},
	})
	f := c.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "print new events as they occur")
	f.StringVar(&q.Topic, "topic", "", "only events of the feed with this `URL`")
	f.StringSliceVar(&q.Kinds, "kind", nil, "only these `kinds`: "+strings.Join(eventKinds(), ", "))
	f.StringVar(&q.Text, "text", "", "only events with this `text` in feed, message or peer")
	f.StringVar(&since, "since", "", "only events since this `time`: 1h, 2d, or 2026-01-31T15:04:05Z")
	f.IntVarP(&q.Limit, "limit", "n", 0, "at most this `number` of the newest")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(eventKinds(), cobra.ShellCompDirectiveNoFileComp)) // cannot fail: the flag exists
	return c
}

func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := config.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, shell.Usagef("--since is %q: it must be a duration such as 1h or 2d, or a time such as 2026-01-31T15:04:05Z", text)
}

// newest collects events, which arrive newest first, and reverses their order.
func newest(list func(func(client.Event, error) bool)) ([]client.Event, error) {
	var events []client.Event
	for e, err := range list {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	slices.Reverse(events)
	return events, nil
}

func (p *commands) printEvents(events []client.Event, asJSON bool) error {
	out := bufio.NewWriter(p.Out)
	for _, e := range events {
		if err := printEvent(out, e, asJSON); err != nil {
			return err
		}
	}
	return out.Flush()
}

func printEvent(w io.Writer, e client.Event, asJSON bool) error {
	if asJSON {
		return shell.JSONLines(w).Encode(e)
	}
	mark := " "
	if !e.OK {
		mark = "!"
	}
	_, err := fmt.Fprintf(w, "%s %s %-8s %s\n", e.At.Local().Format("2006-01-02 15:04:05.000"), mark, shell.Clean(e.Kind), shell.Clean(eventText(e)))
	return err
}

func eventText(e client.Event) string {
	parts := make([]string, 0, 4)
	for _, part := range []string{e.Topic, e.Text} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	var by []string
	for _, part := range []string{e.Peer, e.Via} {
		if part != "" {
			by = append(by, part)
		}
	}
	if e.TookMS > 0 {
		by = append(by, shell.FormatDuration(time.Duration(e.TookMS*float64(time.Millisecond))))
	}
	if len(by) > 0 {
		parts = append(parts, "("+strings.Join(by, ", ")+")")
	}
	if why := networkError(e); why != "" && !strings.Contains(e.Text, why) {
		parts = append(parts, "["+why+"]")
	}
	return strings.Join(parts, "  ")
}

// networkError returns the network error of an event; "": none. Only the operator may see network
// errors.
func networkError(e client.Event) string {
	var exchange struct {
		Error string `json:"error"`
	}
	if e.OK || json.Unmarshal(e.Detail, &exchange) != nil { // details of other kinds of events have another format
		return ""
	}
	return exchange.Error
}

func (p *commands) showLog(ctx context.Context, s *shell.Connection, q client.LogQuery, follow, asJSON bool) error {
	if follow && !s.Running {
		return errors.New("no server is running, so -f has no new events: start one with \"cloudburst serve\", or omit -f")
	}
	after := ""
	if follow { // a stream that starts without an ID would lose the events between two connections
		var err error
		if after, err = newestID(ctx, s); err != nil {
			return err
		}
	}
	events, err := newest(s.Log(ctx, q))
	if err != nil {
		return err
	}
	if err := p.printEvents(events, asJSON); err != nil || !follow {
		return err
	}
	if len(events) > 0 {
		after = events[len(events)-1].ID
	}
	err = p.followLog(ctx, s, q, after, asJSON)
	if ctx.Err() != nil {
		return nil // the user has interrupted the command
	}
	return err
}

// newestID returns the ID of the newest event, regardless of filters; "": the log is empty.
func newestID(ctx context.Context, s *shell.Connection) (string, error) {
	for e, err := range s.Log(ctx, client.LogQuery{Limit: 1}) {
		return e.ID, err
	}
	return "", nil
}

// followLog prints the stream and resumes it after an interruption.
func (p *commands) followLog(ctx context.Context, s *shell.Connection, q client.LogQuery, after string, asJSON bool) error {
	q.Limit = 0
	pause := shell.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}
	for {
		var printing error
		err := s.Follow(ctx, q, after, func(e client.Event) error {
			after = e.ID
			pause.Reset()
			printing = printEvent(p.Out, e, asJSON)
			return printing
		})
		if printing != nil {
			return printing
		}
		if e, ok := errors.AsType[*client.Error](err); ok && e.Status < 500 {
			return err
		}
		if ctx.Err() != nil { // the user ends the command
			return nil
		}
		if !pause.Begun() && !errors.Is(err, io.ErrUnexpectedEOF) {
			fmt.Fprintf(p.Err, "cloudburst: %s; trying again\n", shell.Sentence(err))
		}
		if err := shell.Wait(ctx, pause.Next()); err != nil {
			return err
		}
	}
}
