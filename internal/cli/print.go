package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"
)

// isTerminal reports whether a person looks at w.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// clean takes out what could move a terminal's cursor or hide text: strangers
// choose the texts that we print.
func clean(s string) string {
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

// short cuts a text for one line.
func short(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return strings.TrimSpace(string(r[:most-1])) + "…"
}

// lines prints one JSON object a line.
func lines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// table prints rows: aligned and with a heading for a person, with tabs between
// the cells and without a heading for a program.
type table struct {
	w       io.Writer
	tabs    *tabwriter.Writer // nil for a program
	heading []string
	rows    int
}

// tableChunk is how many rows are aligned together: a long list begins to appear
// before it has ended.
const tableChunk = 500

func newTable(w io.Writer, heading ...string) *table {
	t := &table{w: w, heading: heading}
	if isTerminal(w) {
		t.tabs = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	}
	return t
}

func (t *table) row(cells ...string) error {
	for i := range cells {
		cells[i] = clean(cells[i])
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

func (t *table) end() error {
	if t.tabs == nil {
		return nil
	}
	return t.tabs.Flush()
}

// moment shows a time in the local zone; a dash when there is none.
func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// span shows a duration with the digits that matter: 3.2 ms, 1.5 s, 2 m 5 s, 24 h 59 m.
func span(d time.Duration) string {
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

// plural is "1 line", "2 lines".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// progress shows how far something is, on standard error: a bar that moves for a
// person, a line a second for a log.
type progress struct {
	w     io.Writer
	what  string
	human bool
	last  time.Time
	shown bool
	now   func() time.Time
}

func newProgress(w io.Writer, what string) *progress {
	return &progress{w: w, what: what, human: isTerminal(w), now: time.Now, last: time.Now()}
}

const barWidth = 30

// at shows n of total; total 0 means that nobody knows the end.
func (p *progress) at(n, total int) {
	pause := time.Second
	if p.human {
		pause = 100 * time.Millisecond
	}
	now := p.now()
	if now.Sub(p.last) < pause {
		return
	}
	p.last, p.shown = now, true
	switch {
	case p.human && total > 0:
		full := min(barWidth*n/total, barWidth)
		fmt.Fprintf(p.w, "\r%s [%s%s] %d of %d ", p.what, strings.Repeat("█", full), strings.Repeat("·", barWidth-full), n, total)
	case p.human:
		fmt.Fprintf(p.w, "\r%s %d ", p.what, n)
	case total > 0:
		fmt.Fprintf(p.w, "%s %d of %d\n", p.what, n, total)
	default:
		fmt.Fprintf(p.w, "%s %d\n", p.what, n)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.human && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// dash stands where a cell would be empty.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// size shows a number of bytes: 812 bytes, 12.3 kB, 1.2 MB.
func size(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte")
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func tidyTitle(s string) string { return short(clean(strings.Join(strings.Fields(s), " ")), 200) }
