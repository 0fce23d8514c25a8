package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Figure is one measured number.
type Figure struct {
	Name   string    `json:"name"`
	Value  float64   `json:"value"`
	Unit   string    `json:"unit,omitempty"`
	Target string    `json:"target,omitempty"` // limit as text: "≥ 0.9", "≤ 3", "= 0"
	Met    *bool     `json:"met,omitempty"`    // whether Value meets Target; nil without a target
	Rounds []float64 `json:"rounds,omitempty"` // values of the rounds; Value is their median
	Note   string    `json:"note,omitempty"`
}

// Report contains the figures of a measurement.
type Report struct {
	Bench   string            `json:"bench"`
	At      time.Time         `json:"at"`
	Took    float64           `json:"took_s"`
	Options map[string]string `json:"options"`
	Machine Machine           `json:"machine"`
	Figures []Figure          `json:"figures"`
}

// Machine describes the hardware and load of a machine, but does not identify the machine.
type Machine struct {
	System    string  `json:"system"`
	CPUs      int     `json:"cpus"`
	MemoryMiB int     `json:"memory_mib,omitempty"`
	Load      float64 `json:"load_before"` // mean number of runnable processes in the minute before the measurement
	Go        string  `json:"go"`
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
				kib, _ := strconv.Atoi(f[1])
				m.MemoryMiB = kib / 1024
			}
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if f := strings.Fields(string(text)); len(f) > 0 {
			m.Load, _ = strconv.ParseFloat(f[0], 64)
		}
	}
	return m
}

// add appends a figure and returns a pointer to it, so that the caller can add a note or a
// target. The pointer is valid until the next add.
func (r *Report) add(name string, value float64, unit string) *Figure {
	r.Figures = append(r.Figures, Figure{Name: name, Value: value, Unit: unit})
	return &r.Figures[len(r.Figures)-1]
}

// addMedian appends the median of the values of the rounds.
func (r *Report) addMedian(name string, rounds []float64, unit string) *Figure {
	f := r.add(name, Median(rounds), unit)
	if len(rounds) > 1 {
		f.Rounds = rounds
	}
	return f
}

func (f *Figure) note(format string, args ...any) *Figure {
	f.Note = fmt.Sprintf(format, args...)
	return f
}

// target sets the target of the figure. sign is ≥, ≤, < or =.
func (f *Figure) target(sign string, want float64) *Figure {
	met := false
	switch sign {
	case "≥":
		met = f.Value >= want
	case "≤":
		met = f.Value <= want
	case "<":
		met = f.Value < want
	case "=":
		met = f.Value == want
	}
	f.Target, f.Met = sign+" "+number(want), &met
	return f
}

// Missed returns the names of the figures that miss their targets.
func (r *Report) Missed() []string {
	var names []string
	for _, f := range r.Figures {
		if f.Met != nil && !*f.Met {
			names = append(names, f.Name)
		}
	}
	return names
}

// Write prints r as one JSON document if asJSON is true, otherwise as a table.
func (r *Report) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var opts []string
	for k, v := range r.Options {
		opts = append(opts, k+" "+v)
	}
	slices.Sort(opts)
	fmt.Fprintf(w, "%s: %s\n", r.Bench, strings.Join(opts, ", "))
	fmt.Fprintf(w, "%s, %d CPUs, %d MiB, load %.1f before, %s, took %.0f s\n\n",
		r.Machine.System, r.Machine.CPUs, r.Machine.MemoryMiB, r.Machine.Load, r.Machine.Go, r.Took)
	rows := [][]string{{"figure", "value", "unit", "target", "", "rounds, remarks"}}
	for _, f := range r.Figures {
		rows = append(rows, f.row())
	}
	return table(w, rows)
}

func (f *Figure) row() []string {
	verdict := ""
	if f.Met != nil {
		verdict = "met"
		if !*f.Met {
			verdict = "MISSED"
		}
	}
	remark := f.Note
	if len(f.Rounds) > 0 {
		each := make([]string, len(f.Rounds))
		for i, v := range f.Rounds {
			each[i] = number(v)
		}
		remark = strings.TrimSpace("[" + strings.Join(each, " ") + "] " + f.Note)
	}
	return []string{f.Name, number(f.Value), f.Unit, f.Target, verdict, remark}
}

// table prints rows in columns. The second column is aligned to the right.
func table(w io.Writer, rows [][]string) error {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 1 {
				b.WriteString(pad + cell + "  ")
			} else {
				b.WriteString(cell + pad + "  ")
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// number formats v with three significant digits, or without a fraction if v is an integer.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v == math.Trunc(v) || a >= 1000:
		return thousands(int64(math.Round(v)))
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Median returns the median of values, or NaN if values is empty. It does not reorder values.
func Median(values []float64) float64 { return quantile(values, 0.5) }

// quantile returns the q-quantile of values, interpolated between two neighbours.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (s[i+1]-s[i])*(at-float64(i))
}

// each returns the quotients a[i] / b[i].
func each(a, b []float64) []float64 {
	out := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		out = append(out, a[i]/b[i])
	}
	return out
}
