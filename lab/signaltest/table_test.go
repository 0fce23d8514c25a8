package signaltest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const tableFile = "testdata/signals.md"

// cell is one field of the table: a signal, a kind of subscriber and the expected outcome.
type cell struct{ signal, subscriber, outcome string }

var idForm = regexp.MustCompile("`([a-z0-9-]+)`")

// readTable reads the first table of the document. The first column contains signals, and the
// header contains kinds of subscribers. The first code span of a field is the name.
func readTable(t *testing.T) []cell {
	t.Helper()
	b, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := parseTable(string(b))
	if err != nil {
		t.Fatalf("%s: %v", tableFile, err)
	}
	return cells
}

func parseTable(text string) ([]cell, error) {
	var head []string
	var cells []cell
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if cells != nil {
				break
			}
			continue
		}
		fields := strings.Split(strings.Trim(line, "|"), "|")
		if strings.Trim(line, "|-: ") == "" {
			continue
		}
		if head == nil {
			head = make([]string, len(fields))
			for i, f := range fields[1:] {
				if head[i+1] = idOf(f); head[i+1] == "" {
					return nil, fmt.Errorf("the column %q has no name in backticks", f)
				}
			}
			continue
		}
		signal := idOf(fields[0])
		if signal == "" || len(fields) != len(head) {
			return nil, fmt.Errorf("the row %q has no name in backticks, or another number of fields than the head", line)
		}
		for i, f := range fields[1:] {
			cells = append(cells, cell{signal, head[i+1], strings.TrimSpace(f)})
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("no table found")
	}
	return cells, nil
}

func idOf(field string) string {
	if m := idForm.FindStringSubmatch(field); m != nil {
		return m[1]
	}
	return ""
}
