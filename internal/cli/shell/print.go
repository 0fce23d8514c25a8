package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"cloudburst/internal/text"

	"golang.org/x/term"
)

// IsTerminal reports whether a person looks at w.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// TerminalWidth is the number of columns of a terminal, 80 where w is none.
func TerminalWidth(w any) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// Clean takes out what could move a terminal's cursor or hide text: other people
// choose the texts that we print.
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

// Clip cuts a text for one line.
func Clip(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}

// JSONLines prints one JSON object per line.
func JSONLines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Table prints rows: aligned and with a heading for a person, with tabs between
// the cells and without a heading for a program.
type Table struct {
	w       io.Writer
	tabs    *tabwriter.Writer // nil for a program
	heading []string
	rows    int
}

// tableChunk is how many rows are aligned together: a long list begins to appear
// before it has ended.
const tableChunk = 500

// NewTable begins a table with its heading.
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

// End prints the rows that wait to be aligned.
func (t *Table) End() error {
	if t.tabs == nil {
		return nil
	}
	return t.tabs.Flush()
}

// FormatTime shows a time in the local zone; a dash when there is none.
func FormatTime(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// FormatDuration shows a duration with the digits that matter: 3.2 ms, 1.5 s, 2 m 5 s, 24 h 59 m.
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

// Progress shows how far something is, on standard error: a bar that moves for a
// person, a line a second for a log.
type Progress struct {
	w     io.Writer
	What  string
	Human bool
	last  time.Time
	shown bool
	now   func() time.Time
}

// NewProgress makes a progress on w of what is done, such as "imported".
func NewProgress(w io.Writer, what string) *Progress {
	return &Progress{w: w, What: what, Human: IsTerminal(w), now: time.Now, last: time.Now()}
}

const barWidth = 30

// At shows n of total; total 0 means that nobody knows the end.
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
	switch {
	case p.Human && total > 0:
		full := min(barWidth*n/total, barWidth)
		fmt.Fprintf(p.w, "\r%s [%s%s] %d of %d ", p.What, strings.Repeat("█", full), strings.Repeat("·", barWidth-full), n, total)
	case p.Human:
		fmt.Fprintf(p.w, "\r%s %d ", p.What, n)
	case total > 0:
		fmt.Fprintf(p.w, "%s %d of %d\n", p.What, n, total)
	default:
		fmt.Fprintf(p.w, "%s %d\n", p.What, n)
	}
}

// End takes the bar away.
func (p *Progress) End() {
	if p.Human && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// OrDash stands where a cell would be empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// FormatSize shows a number of bytes: 812 bytes, 12.3 kB, 1.2 MB.
func FormatSize(n int64) string {
	switch {
	case n < 1000:
		return text.Plural(int(n), "byte")
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// TidyTitle is a title on one line, of at most 200 characters.
func TidyTitle(s string) string { return Clip(Clean(strings.Join(strings.Fields(s), " ")), 200) }
