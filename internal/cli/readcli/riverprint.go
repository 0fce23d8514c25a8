package readcli

import (
	"bufio"
	"fmt"
	"strings"
	"time"
	"unicode"

	"cloudburst/client"
	"cloudburst/internal/cli/shell"
)

const (
	widestText = 100 // maximum columns of a text
	maxLines   = 6   // maximum lines of the text of an item
	maxNested  = 5   // maximum nested items that are printed of an item
)

// riverScreen prints items for a terminal: a horizontal line for each day, a line for each feed,
// and the feed's items below. The caller checks write errors by flushing w.
type riverScreen struct {
	w     *bufio.Writer
	width func() int
	bold  bool

	day    string
	source int64
	read   time.Time
}

func (s *riverScreen) item(kind string, it *client.Item) {
	width := min(s.width(), widestText)
	at := it.At.Local()
	if day := at.Format("Monday, 2 January 2006"); day != s.day {
		if s.day != "" {
			fmt.Fprintln(s.w)
		}
		s.day, s.source = day, 0
		fmt.Fprintln(s.w, rule(day, width))
	}
	if it.Source.ID != s.source || !it.ReadAt.Equal(s.read) {
		s.source, s.read = it.Source.ID, it.ReadAt
		fmt.Fprintln(s.w)
		s.strong(shell.Clip(oneLine(it.Source.Title), max(width-8, 10)) + " · " + at.Format("15:04"))
	}
	fmt.Fprintln(s.w)
	title := oneLine(it.Title)
	switch {
	case kind == "withdrawn" || it.WithdrawnAt != nil:
		title = "(withdrawn) " + title
	case kind == "edited":
		title = "(edited) " + title
	}
	s.paragraph(title, width, "  ", 3)
	s.paragraph(oneLine(it.Text), width, "  ", maxLines)
	for i := range it.Nested {
		if i == maxNested {
			fmt.Fprintf(s.w, "    and %d more\n", len(it.Nested)-maxNested)
			break
		}
		n := client.Item{Content: it.Nested[i]}
		s.paragraph("+ "+itemName(&n, 2*width), width, "    ", 2)
	}
	for i := range it.Enclosures {
		s.address("  ♪ ", it.Enclosures[i].URL)
	}
	s.address("  ", it.Link)
}

// strong prints a line in bold if the terminal supports it.
func (s *riverScreen) strong(line string) {
	if s.bold {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	fmt.Fprintln(s.w, line)
}

// paragraph prints a text in at most limit lines.
func (s *riverScreen) paragraph(text string, width int, indent string, limit int) {
	rows := wrapped(text, max(width-len(indent), 10))
	if len(rows) > limit {
		rows = rows[:limit]
		rows[limit-1] += " …"
	}
	for _, row := range rows {
		fmt.Fprintln(s.w, indent+row)
	}
}

// address prints a URL on one line, so that the terminal recognizes the link.
func (s *riverScreen) address(before, url string) {
	if url = shell.Clean(url); url != "" {
		fmt.Fprintln(s.w, before+url)
	}
}

// rule returns a horizontal line that contains a text.
func rule(text string, width int) string {
	left := "──── " + text + " "
	return left + strings.Repeat("─", max(width-columns(left), 4))
}

// wrapped splits a text into lines of at most width columns. It splits between words if possible.
func wrapped(text string, width int) []string {
	var rows []string
	var row strings.Builder
	used := 0
	end := func() {
		if used > 0 {
			rows = append(rows, row.String())
			row.Reset()
			used = 0
		}
	}
	for word := range strings.FieldsSeq(text) {
		n := columns(word)
		if used > 0 && used+1+n > width {
			end()
		}
		if used > 0 {
			row.WriteByte(' ')
			used++
		}
		for _, r := range word {
			if c := runeColumns(r); used+c > width {
				end()
				row.WriteRune(r)
				used = c
			} else {
				row.WriteRune(r)
				used += c
			}
		}
	}
	end()
	return rows
}

func columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// runeColumns returns the number of columns of a character on a terminal: 0 for combining marks, 2
// for East Asian scripts and emoji, otherwise 1.
func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul),
		r >= 0x3000 && r <= 0x303e, r >= 0xff01 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
