package shell

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"cloudburst/internal/text"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// TerminalWidth returns the number of columns of the terminal w; 80 if w is not a terminal.
func TerminalWidth(w any) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// Clean removes control characters from a text. Printed texts come from untrusted sources, and
// control characters could move the cursor of a terminal or hide text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// Clip shortens a text to limit characters. A shortened text ends with an ellipsis.
func Clip(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return strings.TrimSpace(string(r[:limit-1])) + "…"
}

// JSONLines returns an encoder that prints one JSON object per line.
func JSONLines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Table prints rows. On a terminal, it aligns the columns and prints a heading; otherwise tabs
// separate the columns and the heading is omitted.
type Table struct {
	w       io.Writer
	tabs    *tabwriter.Writer // nil: w is not a terminal
	heading []string
	rows    int
}

// tableChunk is the number of rows that are aligned together. The start of a long list therefore
// appears before the whole list is known.
const tableChunk = 500

// NewTable returns a table with a heading.
func NewTable(w io.Writer, heading ...string) *Table {
	t := &Table{w: w, heading: heading}
	if IsTerminal(w) {
		t.tabs = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	}
	return t
}

// Row prints one row.
func (t *Table) Row(cells ...string) error {
	for i := range cells {
		cells[i] = Clean(cells[i])
	}
	var out io.Writer = t.w
	if t.tabs != nil {
		out = t.tabs
		if t.rows == 0 {
			if _, err := fmt.Fprintln(out, strings.Join(t.heading, "\t")); err != nil {
				return err
			}
		}
		if t.rows++; t.rows%tableChunk == 0 {
			if err := t.tabs.Flush(); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(out, strings.Join(cells, "\t"))
	return err
}

// End prints the rows that are not printed yet.
func (t *Table) End() error {
	if t.tabs == nil {
		return nil
	}
	return t.tabs.Flush()
}

// PrintList prints a list as JSON lines or as a table. row returns the cells of an element.
// PrintList stops at the first error of the list, prints the elements before it, and returns the
// error.
func PrintList[T any](w io.Writer, list iter.Seq2[T, error], asJSON bool, heading []string, row func(*T) []string) error {
	out := bufio.NewWriter(w)
	enc, t := JSONLines(out), NewTable(w, heading...)
	for one, err := range list {
		if err == nil && asJSON {
			err = enc.Encode(one)
		} else if err == nil {
			err = t.Row(row(&one)...)
		}
		if err != nil {
			return cmp.Or(err, out.Flush(), t.End())
		}
	}
	return cmp.Or(out.Flush(), t.End())
}

// Each returns the elements of a slice, and then err unless it is nil, as a list for PrintList.
func Each[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// ReportSuccess prints a message unless err is not nil. It returns err, or the error of printing.
func (p *Shell) ReportSuccess(err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(p.Out, format, args...)
	}
	return err
}

// FormatTime formats a time in the local time zone; "-" if t is nil or zero.
func FormatTime(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// FormatDuration formats a duration in at most two units: 3.2 ms, 1.5 s, 2 m 5 s, 24 h 59 m.
func FormatDuration(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < 10*time.Second:
		if ms := float64(d) / float64(time.Millisecond); ms < 1000 {
			return fmt.Sprintf("%s%.1f ms", sign, ms)
		}
		return fmt.Sprintf("%s%.1f s", sign, d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%s%d s", sign, int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%s%d m %d s", sign, int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%s%d h %d m", sign, int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%s%d days", sign, int(d.Hours())/24)
	}
}

// Progress prints the progress of a task: a progress bar on a terminal, otherwise one line per
// second.
type Progress struct {
	w     io.Writer
	What  string
	Human bool
	last  time.Time
	shown bool
	now   func() time.Time
}

// NewProgress returns a Progress that prints to w. what is the label, such as "imported".
func NewProgress(w io.Writer, what string) *Progress {
	return &Progress{w: w, What: what, Human: IsTerminal(w), now: time.Now, last: time.Now()}
}

const barWidth = 30

// Step is like At with another label. A new label is printed at once.
func (p *Progress) Step(what string, n, total int) {
	if what != p.What {
		p.What, p.last = what, time.Time{}
	}
	p.At(n, total)
}

// At prints n of total; total 0 means that the total is unknown.
func (p *Progress) At(n, total int) {
	pause := time.Second
	if p.Human {
		pause = 100 * time.Millisecond
	}
	now := p.now()
	if now.Sub(p.last) < pause {
		return
	}
	p.last, p.shown = now, true
	count := ""
	switch {
	case total > 0:
		count = fmt.Sprintf(" %d of %d", n, total)
	case n > 0:
		count = fmt.Sprintf(" %d", n)
	}
	if !p.Human {
		fmt.Fprintf(p.w, "%s%s\n", p.What, count)
		return
	}
	bar := ""
	if total > 0 {
		full := min(barWidth*n/total, barWidth)
		bar = fmt.Sprintf(" [%s%s]", strings.Repeat("█", full), strings.Repeat("·", barWidth-full))
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s%s ", p.What, bar, count)
}

// End removes the progress bar from the terminal.
func (p *Progress) End() {
	if p.Human && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// OrDash returns a text, or "-" for an empty text.
func OrDash(s string) string {
	return cmp.Or(s, "-")
}

// FormatSize formats a number of bytes: 812 bytes, 12.3 kB, 1.2 MB.
func FormatSize(n int64) string {
	switch {
	case n < 1000:
		return text.Plural(int(n), "byte")
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// TidyTitle returns a title on one line, with at most 200 characters.
func TidyTitle(s string) string { return Clip(Clean(strings.Join(strings.Fields(s), " ")), 200) }
