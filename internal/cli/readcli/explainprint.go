package readcli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/cli/shell"
	"cloudburst/internal/text"
)

func (e *explanation) print(asJSON, further bool) error {
	if e.Error != nil {
		defer fmt.Fprintf(e.p.Err, "cloudburst: %s\n", shell.Clean(e.Error.Message))
	}
	if asJSON {
		return shell.JSONLines(e.p.Out).Encode(e)
	}
	var b strings.Builder
	row := printerTo(&b, e.Input, further)
	e.printAnswer(row)
	if e.Format != "" {
		e.printFeed(row)
	}
	e.printNext(row)
	e.printPush(row)
	e.printProblems(row)
	_, err := io.WriteString(e.p.Out, b.String())
	return err
}

// printer prints one line with a name and a text. An empty name continues the previous line.
type printer func(name, format string, args ...any)

// printerTo prints the first line about a feed and returns the printer for the other lines. If
// further is true, an empty line separates the feed from the feed before it.
func printerTo(b *strings.Builder, input string, further bool) printer {
	if further {
		b.WriteString("\n")
	}
	fmt.Fprintln(b, shell.Clean(input))
	return func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-11s %s\n", name, shell.Clean(fmt.Sprintf(format, args...)))
	}
}

func (e *explanation) printAnswer(row printer) {
	name := "redirect"
	for _, r := range e.Redirects {
		what := fmt.Sprint(r.Status)
		if r.Document {
			what = "in XML"
		}
		row(name, "%s to %s", what, r.To)
		row("", "%s", r.Means)
		name = ""
	}
	if e.Status == 0 {
		return
	}
	text := strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	if e.Type != "" {
		text += ", " + e.Type
	}
	text += ", " + shell.FormatSize(int64(e.Bytes))
	switch {
	case e.Coding != "":
		text += fmt.Sprintf(" (%s, %s transferred)", e.Coding, shell.FormatSize(e.OnTheWay))
	case e.Bytes > 1000:
		text += ", not compressed"
	}
	if e.Protocol != "" {
		text += ", " + e.Protocol
	}
	row("response", "%s", text)
}

func (e *explanation) printFeed(row printer) {
	text := shell.FormatName(e.Format, e.Version, e.variant) + ", " + text.Plural(e.Items, "item")
	if e.Title != "" {
		text += ": " + e.Title
	}
	row("feed", "%s", text)
	if !e.Newest.IsZero() {
		text = "the newest of " + e.Newest.In(e.now.Location()).Format("2006-01-02 15:04")
		if e.Spacing > 0 {
			text += ", one about every " + shell.FormatDuration(time.Duration(e.Spacing*float64(time.Second)))
		}
		row("posts", "%s", text)
	}
	if v := e.Validators; v != nil {
		name := "validators"
		if v.ETag != "" {
			row(name, "ETag: %s", v.ETag)
			name = ""
		}
		if v.LastModified != "" {
			row(name, "Last-Modified: %s", v.LastModified)
			name = ""
		}
		row(name, "%s", v.Means)
	}
	if c := e.Cache; c != nil {
		name := "caching"
		for _, field := range [...][2]string{{"Cache-Control", c.CacheControl}, {"Expires", c.Expires}, {"Age", c.Age}} {
			if field[1] != "" {
				row(name, "%s: %s", field[0], field[1])
				name = ""
			}
		}
	}
}

func (e *explanation) printNext(row printer) {
	d := e.Next
	if d == nil {
		return
	}
	name := "considered"
	for _, c := range d.Considered {
		row(name, "%s: %s", c.Text, effectOf(c, e.now.Location()))
		name = ""
	}
	for _, w := range d.Warnings {
		row("warning", "%s", w)
	}
	first, rest, _ := strings.Cut(d.Sentence(e.now), ": ")
	if d.Gone {
		row("next check", "none: %s", rest)
		return
	}
	row("next check", "%s: %s", strings.TrimPrefix(first, "next check "), rest)
}

// effectOf describes the effect of a hint on the next check.
func effectOf(c polling.Consideration, zone *time.Location) string {
	at := ""
	if !c.Until.IsZero() {
		at = c.Until.In(zone).Format("2006-01-02 15:04")
	}
	text := ""
	switch c.Effect {
	case polling.Decides:
		text = "decides, from " + at
	case polling.Moves:
		text = "delays it until " + at
	case polling.Bounds:
		text = "makes it " + at
	case polling.Allows:
		text = "allows it"
		if at != "" {
			text = "allows it from " + at
		}
	case polling.Overrode:
		text = "suggests " + at
	case polling.Ignored:
		return "ignored, " + c.Note
	}
	if c.Note != "" {
		text += " (" + c.Note + ")"
	}
	return text
}

func (e *explanation) printPush(row printer) {
	name := "push"
	for _, p := range e.Push {
		what := p.Protocol
		if p.Via != "" {
			what += " by " + p.Via
		}
		if p.Problem != "" {
			row(name, "%s, which is not usable: %s", what, p.Problem)
		} else {
			row(name, "%s at %s", what, p.URL)
		}
		name = ""
	}
	if e.Next.Outcome == polling.Changed && len(e.Push) == 0 {
		row(name, "no <cloud> and no hub: no hub can announce changes")
	}
}

func (e *explanation) printProblems(row printer) {
	if e.Problems == 0 {
		return
	}
	const shown = 5
	name := "problems"
	for i, k := range e.Kinds {
		if i == shown {
			row("", "and %s more", text.Plural(len(e.Kinds)-shown, "kind"))
			break
		}
		text := k.Kind
		if k.Count > 1 {
			text += fmt.Sprintf(", %d times", k.Count)
		}
		if k.Line > 0 {
			text += fmt.Sprintf(", line %d", k.Line)
		}
		row(name, "%s: %s", text, k.Text)
		name = ""
	}
	row("", "“cloudburst validate” explains how to fix them")
}
