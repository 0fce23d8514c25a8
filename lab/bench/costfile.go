package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// CostShape is the current version of the file format.
const CostShape = 1

// CostFile is the result of "bench costs": the costs of single operations of the program.
type CostFile struct {
	Shape   int       `json:"shape"` // version of the format: CostShape
	Command string    `json:"command"`
	At      time.Time `json:"at"`
	Took    float64   `json:"took_s"`
	CPU     string    `json:"cpu"` // name of the processor as reported by the operating system
	Machine Machine   `json:"machine"`
	Costs   []Cost    `json:"costs"`
}

// Cost is the cost of one operation. Value is the median of all repeats; P10 and P90 are the 10th
// and 90th percentiles.
type Cost struct {
	Name    string  `json:"name"` // name in the form store/operation.resource
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"` // µs, B or KiB; "" for a count
	P10     float64 `json:"p10"`
	P90     float64 `json:"p90"`
	N       int     `json:"n"`       // number of operations in all repeats
	Repeats int     `json:"repeats"` // number of repeats; 1 means that P10 and P90 equal Value
	What    string  `json:"what"`
}

// ReadCosts parses a file of costs. It fails for invalid JSON and other versions of the format.
func ReadCosts(text []byte) (*CostFile, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var f CostFile
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("this is no file that bench costs writes: %w", err)
	}
	if f.Shape != CostShape {
		return nil, fmt.Errorf("the costs have the shape %d, and %d is needed: measure them again with this program", f.Shape, CostShape)
	}
	seen := map[string]bool{}
	for _, c := range f.Costs {
		if c.Name == "" || seen[c.Name] || c.Value < 0 {
			return nil, fmt.Errorf("the cost %q with the value %g is there twice, or is no cost", c.Name, c.Value)
		}
		seen[c.Name] = true
	}
	if len(f.Costs) == 0 {
		return nil, errors.New("the file has no costs")
	}
	return &f, nil
}

// Write prints f as JSON if asJSON is true, otherwise as a table.
func (f *CostFile) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(f)
	}
	fmt.Fprintf(w, "%s: %s, %s, %d CPUs, load %.1f before, %s, took %.0f s\n\n",
		f.Command, f.CPU, f.Machine.System, f.Machine.CPUs, f.Machine.Load, f.Machine.Go, f.Took)
	rows := [][]string{{"cost", "value", "unit", "p10–p90", "n", "what"}}
	for _, c := range f.Costs {
		rows = append(rows, []string{c.Name, number(c.Value), c.Unit, number(c.P10) + "–" + number(c.P90), thousands(int64(c.N)), c.What})
	}
	return table(w, rows)
}

// cpuModel returns the name of the processor, or "" if the system does not report one.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
