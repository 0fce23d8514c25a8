package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/internal/fulltest"
)

// language is an interpreter for a format. It has functions for values that the language represents
// differently from the tree.
type language struct {
	command []string
	formats map[string]string // key: file extension that the interpreter's script knows, value: name of the format
	in      map[string]func(*datum) any
}

func languages() map[string]language {
	perl := func(d *datum) any { // Perl has no boolean values
		if d.kind == kindTrue {
			return 1.0
		}
		return nil
	}
	storable := func(d *datum) any { // nstore represents only integers of 32 bits as numbers
		switch {
		case d.kind == kindInt && (d.n < math.MinInt32 || d.n > math.MaxInt32):
			return strconv.FormatInt(d.n, 10)
		case d.kind == kindFloat:
			return strconv.FormatFloat(d.real, 'g', -1, 64)
		}
		return perl(d)
	}
	return map[string]language{
		"php":    {[]string{"php", "-d", "memory_limit=1G", "-d", "display_errors=stderr"}, map[string]string{"php": "php", "phps": "phps"}, nil},
		"perl":   {[]string{"perl"}, map[string]string{"pl": "perl", "sto": "storable"}, map[string]func(*datum) any{"pl": perl, "sto": storable}},
		"python": {[]string{"python3"}, map[string]string{"py": "python", "csv": "csv", "tsv": "tsv"}, nil},
		"ruby":   {[]string{"ruby", "-W0"}, map[string]string{"rb": "ruby"}, nil},
		"node":   {[]string{"node"}, map[string]string{"mjs": "js", "jsonp": "jsonp"}, nil},
	}
}

func TestLanguageInterpretersReadRenderedData(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	scripts := map[string]string{"php": "read.php", "perl": "read.pl", "python": "read.py", "ruby": "read.rb", "node": "read.mjs"}
	for name, l := range languages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := filepath.Abs(filepath.Join("testdata", "interpreters", scripts[name]))
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			want := l.write(t, folder)
			command := append(l.command[1:len(l.command):len(l.command)], script, folder)
			cmd := exec.CommandContext(t.Context(), l.command[0], command...)
			var out, complaints bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &complaints
			if err := cmd.Run(); err != nil || complaints.Len() > 0 {
				t.Fatalf("%v: %v\n%s", l.command, err, complaints.String())
			}
			compareRead(t, &out, want)
		})
	}
}

// write writes all cases in the formats of a language. It returns the expected value of each file.
func (l language) write(t *testing.T, folder string) (want map[string]any) {
	t.Helper()
	want = map[string]any{}
	n := 0
	for name, f := range dataCases() {
		n++
		for ext, format := range l.formats {
			file := fmt.Sprintf("f%03d.%s", n, ext)
			if table := format == "csv" || format == "tsv"; table && name == "deep" {
				f = nestedItems(20) // tables allow deeper nesting than data
			}
			doc := rendered(t, f, format, &Options{Callback: "feeds.show"})
			if err := os.WriteFile(filepath.Join(folder, file), []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
			w := writer{f: f}
			w.at = w.few[:0]
			if data := w.data(); format == "csv" || format == "tsv" {
				want[file] = tableOf(f, plainData(data, nil).(map[string]any))
			} else {
				want[file] = plainData(data, l.in[ext])
			}
			t.Logf("%s is %s", file, name)
		}
	}
	return want
}

func compareRead(t *testing.T, out *bytes.Buffer, want map[string]any) {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var got struct {
			File string
			Data any
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := difference(want[got.File], got.Data); diff != "" {
			t.Errorf("%s is read differently: %s", got.File, diff)
		}
		delete(want, got.File)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for file := range want {
		t.Errorf("%s was not read", file)
	}
}

// tableOf returns the table for the data of a feed: the columns named as members, and the
// combined columns.
func tableOf(f *feed.Feed, data map[string]any) (rows []any) {
	columns := strings.Split(csvColumns, " ")
	header := []any{}
	for _, c := range columns {
		header = append(header, c)
	}
	return tableRows(append(rows, header), columns, data, 0)
}

func tableRows(rows []any, columns []string, of map[string]any, depth int) []any {
	items, _ := of["items"].([]any)
	for _, it := range items {
		it := it.(map[string]any)
		row := []any{}
		for _, c := range columns {
			row = append(row, tableCell(it, c, depth))
		}
		rows = append(rows, row)
		rows = tableRows(rows, columns, it, depth+1)
	}
	return rows
}

func tableCell(it map[string]any, column string, depth int) string {
	enclosure := map[string]any{}
	if list, ok := it["enclosures"].([]any); ok && len(list) > 0 {
		enclosure = list[0].(map[string]any)
	}
	var v any
	switch column {
	case "depth":
		return strconv.Itoa(depth)
	case "categories":
		var names []string
		list, _ := it["categories"].([]any)
		for _, c := range list {
			names = append(names, strings.ReplaceAll(c.(map[string]any)["term"].(string), ";", ","))
		}
		v = strings.Join(names, "; ")
	case "enclosure_length":
		if n, ok := enclosure["length"].(float64); ok {
			v = strconv.FormatFloat(n, 'f', -1, 64)
		}
	case "enclosure_url", "enclosure_type":
		v = enclosure[strings.TrimPrefix(column, "enclosure_")]
	default:
		v = it[column]
	}
	s, _ := v.(string)
	return strings.ReplaceAll(s, "\x00", "")
}
