package bench

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress shows the progress of a measurement: as a bar on a terminal, or else as one line per
// second.
type progress struct {
	w     io.Writer
	tty   bool
	begun time.Time
	last  time.Time
	label string
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, begun: time.Now()}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			p.tty = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return p
}

// step reports that done of total units are complete. It prints at most 20 times per second on a
// terminal, and at most once per second elsewhere.
func (p *progress) step(label string, done, total int) {
	now := time.Now()
	pause := time.Second
	if p.tty {
		pause = 50 * time.Millisecond
	}
	if label == p.label && now.Sub(p.last) < pause {
		return
	}
	p.last, p.label = now, label
	if !p.tty {
		line := label
		if total > 0 {
			line = fmt.Sprintf("%s: %s of %s", label, thousands(int64(done)), thousands(int64(total)))
		}
		fmt.Fprintf(p.w, "%6.1f s  %s\n", now.Sub(p.begun).Seconds(), line)
		return
	}
	const width = 30
	bar := ""
	if total > 0 {
		n := min(width, width*done/total)
		bar = fmt.Sprintf(" %s%s %s of %s", strings.Repeat("█", n), strings.Repeat("░", width-n), thousands(int64(done)), thousands(int64(total)))
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", label, bar)
}

// of returns step with the label and the total already set.
func (p *progress) of(label string, total int) func(done int) {
	return func(done int) { p.step(label, done, total) }
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	if p.tty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
