package formatcli

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"cloudburst/feed/render"
	"cloudburst/internal/cli/shell"
)

var update = flag.Bool("update", false, "rewrite the examples of docs/reference/formats.md; review them before you commit")

const formatsDoc = "../../../docs/reference/formats.md"

// block returns the positions of the start and the end of the text in the first fenced block after
// a heading.
func block(t *testing.T, doc, heading string) (from, to int) {
	t.Helper()
	at := strings.Index(doc, "\n"+heading+"\n")
	if at < 0 {
		t.Fatalf("%s has no heading %q", formatsDoc, heading)
	}
	at += len(heading) + 2
	next := len(doc)
	if i := strings.Index(doc[at:], "\n## "); i >= 0 {
		next = at + i
	}
	open := strings.Index(doc[at:next], "\n```")
	if open < 0 {
		t.Fatalf("%s has no example below %q", formatsDoc, heading)
	}
	from = at + open + 1
	from += strings.IndexByte(doc[from:], '\n') + 1
	end := strings.Index(doc[from-1:next], "\n```")
	if end < 0 {
		t.Fatalf("%s has no end of the example below %q", formatsDoc, heading)
	}
	return from, from + end
}

// shown formats a document for a fenced block. Line breaks are \n. For binary data, it returns the
// first 128 bytes as a hex dump.
func shown(doc string) string {
	if !utf8.ValidString(doc) || strings.ContainsRune(doc, 0) {
		return hex.Dump([]byte(doc[:128])) + "…\n"
	}
	return strings.TrimSuffix(strings.ReplaceAll(doc, "\r\n", "\n"), "\n") + "\n"
}

// formatsTable returns the table of all formats in Markdown.
func formatsTable() string {
	var b strings.Builder
	b.WriteString("| name | format | file of a user's feed | media type |\n| --- | --- | --- | --- |\n")
	for _, f := range render.Formats() {
		file := "`rss.xml?format=" + f.Name + "`"
		switch f.Ext {
		case "":
		case "xml":
			file = "`feed.xml`, `rss.xml`"
		default:
			file = "`feed." + f.Ext + "`"
		}
		b.WriteString("| [`" + f.Name + "`](#" + f.Name + ") | " + f.Title + " | " + file + " | `" + f.Type + "` |\n")
	}
	return b.String()
}

func TestFormatExamplesMatchOutput(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(formatsDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	from, to := block(t, doc, "## The example")
	file := filepath.Join(t.TempDir(), "example.xml")
	if err := os.WriteFile(file, []byte(doc[from:to]), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(from, to int, what, want string) {
		if doc[from:to] == want {
			return
		}
		if !*update {
			t.Errorf("%s: the document contains\n%s\nbut the program writes\n%s", what, doc[from:to], want)
		}
		doc = doc[:from] + want + doc[to:]
	}
	for _, f := range render.Formats() {
		out, reported, code := converted(t, "", "--to", f.Name, "--quiet", file)
		if code != shell.ExitOK {
			t.Fatalf("%s: %s", f.Name, reported)
		}
		from, to := block(t, doc, "## "+f.Name)
		put(from, to, f.Name, shown(out))
	}
	from = strings.Index(doc, "\n| name | format |") + 1
	to = from + strings.Index(doc[from:], "\n\n") + 1
	if from == 0 || to == from {
		t.Fatal("the document has no table of the formats")
	}
	put(from, to, "the table", formatsTable())
	if *update {
		if err := os.WriteFile(formatsDoc, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(doc) {
		if name, ok := strings.CutPrefix(line, "## "); ok && strings.ToLower(name) == name {
			if _, err := render.Lookup(strings.TrimSpace(name)); err != nil {
				t.Error(err)
			}
		}
	}
}
