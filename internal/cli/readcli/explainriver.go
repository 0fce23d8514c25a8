package readcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cloudburst/client"
	"cloudburst/feed/polling"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/config"
	"cloudburst/internal/text"
)

// explainer is one run of the command explain.
type explainer struct {
	p        *commands
	user     string
	unknown  bool // treat the feed as one that nobody follows, and do not query the server
	exchange bool // print the requests and responses
	asJSON   bool

	river *client.River // stored data; nil: neither a server nor a data folder exists
}

// run explains the feeds one after another. It explains a followed feed from stored data and reads
// any other feed.
func (x *explainer) run(c *cobra.Command, urls []string) error {
	s, err := x.connect(c)
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
		x.river = s.River(x.user)
	}
	failed := false
	for i, u := range urls {
		ok, err := x.one(c.Context(), u, i > 0)
		if err != nil {
			return err
		}
		failed = failed || !ok
	}
	if failed {
		return shell.ErrReported
	}
	return nil
}

// connect connects to the server or opens its data folder. If neither exists and no flag names one,
// connect returns nil without an error, because every feed can be explained without stored data.
func (x *explainer) connect(c *cobra.Command) (*shell.Connection, error) {
	if x.unknown {
		return nil, nil
	}
	s, err := x.p.Connect(c, false)
	if err == nil || c.Context().Err() != nil {
		return s, err
	}
	if _, usage := errors.AsType[shell.UsageError](err); usage {
		return nil, err
	}
	if _, none := errors.AsType[shell.NoFolderError](err); none && x.user == "" {
		return nil, nil
	}
	e, loading := x.p.LoadConfig(c.Flags())
	if loading != nil {
		return nil, loading
	}
	for _, name := range []string{"server", "admin.listen", "data", "database"} {
		if e.Value(name).Source != config.FromDefault || x.user != "" {
			return nil, err
		}
	}
	return nil, nil
}

// one explains one feed. It returns false if it has printed an error.
func (x *explainer) one(ctx context.Context, url string, further bool) (bool, error) {
	if x.river != nil {
		e, err := x.river.Explain(ctx, url)
		if err == nil {
			return true, x.printKnown(url, &e, further)
		}
		answer, answered := errors.AsType[*client.Error](err)
		if !answered || x.user != "" && answer.Code == "not-found" || answer.Code != "not-found" && answer.Code != "unsupported" {
			return false, err
		}
	}
	e := &explanation{Input: url, p: x.p, now: time.Now().Truncate(time.Second)}
	if x.asJSON {
		e.now = e.now.UTC()
	}
	e.read(ctx)
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return e.Error == nil, e.print(x.asJSON, further)
}

// knownLine is the output of --json for a followed feed.
type knownLine struct {
	Input string `json:"input"`
	client.Explanation
}

// printKnown prints the stored data about a followed feed.
func (x *explainer) printKnown(url string, e *client.Explanation, further bool) error {
	if x.asJSON {
		return shell.JSONLines(x.p.Out).Encode(knownLine{url, *e})
	}
	var b strings.Builder
	row := printerTo(&b, url, further)
	printKnownSource(row, &e.Source)
	printKnownNext(row, e)
	printKnownPush(row, e)
	name := "note"
	for _, note := range e.Notes {
		row(name, "%s", note)
		name = ""
	}
	name = "checks"
	for i := range e.Checks {
		row(name, "%s", checkLine(&e.Checks[i]))
		name = ""
		if x.exchange {
			printExchange(row, &e.Checks[i])
		}
	}
	_, err := io.WriteString(x.p.Out, b.String())
	return err
}

func printKnownSource(row printer, s *client.Source) {
	text := text.Plural(int(s.Items), "item") + " stored"
	if s.Format != "" {
		text = s.Format + ", " + text
	}
	if s.Title != s.URL {
		text += ": " + s.Title
	}
	row("feed", "%s", text)
	row("followed", "since %s, by %s of this server", shell.FormatTime(&s.AddedAt), readers(s.Readers))
	state := s.State
	if s.Problem != "" {
		state += ": " + s.Problem
	}
	if s.Failures > 1 {
		state += fmt.Sprintf(" (%d times in a row)", s.Failures)
	}
	row("state", "%s", state)
	if s.Moved != nil {
		row("moved", "from %s to %s, at %s", s.Moved.From, s.Moved.To, shell.FormatTime(&s.Moved.At))
	}
}

func readers(n int64) string {
	if n == 1 {
		return "one user"
	}
	return text.Plural(int(n), "user")
}

func printKnownNext(row printer, e *client.Explanation) {
	name := "considered"
	for _, c := range e.Considered {
		row(name, "%s: %s", c.Text, effectOf(considerationOf(&c), time.Local))
		name = ""
	}
	row("next check", "%s", nextWords(e))
}

// nextWords describes the next check. The time is in the server's time zone and in the same format
// as the times of the hints.
func nextWords(e *client.Explanation) string {
	text, planned := strings.CutPrefix(e.Sentence, "next check ")
	_, why, ok := strings.Cut(text, ": ")
	if !planned || !ok || e.Source.NextAt == nil {
		return text
	}
	return e.Source.NextAt.Local().Format("2006-01-02 15:04") + ": " + why
}

func considerationOf(c *client.Consideration) polling.Consideration {
	out := polling.Consideration{Rule: polling.Rule(c.Rule), Value: c.Value, Text: c.Text, Effect: polling.Effect(c.Effect), Note: c.Note}
	if c.Until != nil {
		out.Until = *c.Until
	}
	return out
}

func printKnownPush(row printer, e *client.Explanation) {
	name := "push"
	for _, s := range e.Push {
		text := s.Protocol + " at " + s.Hub
		if s.Own {
			text += ", which is this server"
		}
		text += ": " + s.State
		if s.Since != nil {
			text += " since " + shell.FormatTime(s.Since)
		}
		if s.Until != nil {
			text += ", until " + shell.FormatTime(s.Until)
		}
		if s.PushedAt != nil {
			text += ", last push received " + shell.FormatTime(s.PushedAt)
		}
		if s.LastError != "" {
			text += "; " + s.LastError
		}
		row(name, "%s", text)
		name = ""
	}
	if e.Trust != "" {
		row("trust", "%s", e.Trust)
	}
}

// checkLine formats one check on one line.
func checkLine(c *client.Check) string {
	text := shell.FormatTime(&c.At) + "  "
	if c.Status > 0 {
		text += fmt.Sprint(c.Status) + " "
	}
	text += c.Text
	more := []string{shell.FormatDuration(time.Duration(c.TookMS * float64(time.Millisecond)))}
	if c.Bytes > 0 {
		more = append(more, shell.FormatSize(int64(c.Bytes)))
	}
	switch c.Asked {
	case "full":
		more = append([]string{"in full"}, more...)
	case "conditional":
		more = append([]string{"conditional"}, more...)
	}
	if c.Cause != "due" {
		more = append([]string{strings.TrimSuffix(c.Cause+" "+c.Via, " ")}, more...)
	}
	return text + " (" + strings.Join(more, ", ") + ")"
}

// printExchange prints the request and the response of a check.
func printExchange(row printer, c *client.Check) {
	if c.AskedWhy != "" {
		row("", "  requested in full: %s", c.AskedWhy)
	}
	for _, h := range c.Hops {
		what := strconv.Itoa(h.Status)
		if h.Document {
			what += " in the document"
		}
		row("", "  %s to %s", what, h.To)
	}
	for _, side := range [...][2]string{{"> ", c.Sent}, {"< ", c.Received}} {
		for line := range strings.Lines(side[1]) {
			if line = strings.TrimSpace(shell.Clean(line)); line != "" {
				row("", "  %s%s", side[0], line)
			}
		}
	}
}
