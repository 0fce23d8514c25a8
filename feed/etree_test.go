package feed_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

// etreeProgram reads documents with the independent XML parser of Python and prints the
// titles and links of the feed and of its items. It skips repeated elements and
// ambiguous forms.
const etreeProgram = `
import json, sys
import xml.etree.ElementTree as ET

ATOM = '{http://www.w3.org/2005/Atom}'
RSS1 = '{http://purl.org/rss/1.0/}'
RDF = '{http://www.w3.org/1999/02/22-rdf-syntax-ns#}'

def local(e):
    return e.tag.rsplit('}', 1)[-1].lower() if isinstance(e.tag, str) else ''

def one(e, name, ns):
    same = [c for c in e if local(c) == name]
    if len(same) != 1 or same[0].tag != ns + name:
        return None
    return same[0]

def text(e):
    if e is None or len(e) or e.attrib and set(e.attrib) != {'type'}:
        return None
    if e.get('type', 'text') not in ('text', 'html'):
        return None
    return ' '.join((e.text or '').split())

def atom_link(e):
    found = [c.get('href') for c in e if c.tag == ATOM + 'link' and c.get('rel', 'alternate') == 'alternate'
             and c.get('type', 'text/html') == 'text/html' and c.get('href')]
    return found[0] if len(found) == 1 and not [c for c in e if local(c) == 'link' and c.tag != ATOM + 'link'] else None

def plain_link(e, ns):
    return text(one(e, 'link', ns))

def look(root):
    if root.tag == ATOM + 'feed':
        items = [c for c in root if c.tag == ATOM + 'entry']
        say = lambda e: {'title': text(one(e, 'title', ATOM)), 'link': atom_link(e)}
        return dict(say(root), items=[say(i) for i in items])
    if root.tag == RDF + 'RDF':
        channel = root.find(RSS1 + 'channel')
        items = [c for c in root if c.tag == RSS1 + 'item']
        ns = RSS1
    elif root.tag == 'rss':
        channel = root.find('channel')
        items = [] if channel is None else [c for c in channel if c.tag == 'item']
        ns = ''
    else:
        return None
    if channel is None or sum(1 for e in root.iter() if local(e) == 'channel') > 1:
        return None
    say = lambda e: {'title': text(one(e, 'title', ns)), 'link': plain_link(e, ns)}
    return dict(say(channel), items=[say(i) for i in items])

for name in sys.stdin.read().split('\n'):
    out = None
    try:
        root = ET.parse(name).getroot()
        out = look(root)
        # Items within items, or elsewhere than they belong.
        if out and sum(1 for e in root.iter() if local(e) in ('item', 'entry')) != len(out['items']):
            out = None
    except (ET.ParseError, ValueError, LookupError):
        pass
    print(json.dumps(out))
`

// pythonFeed is the result of the Python parser. Fields that the parser does not determine are nil.
type pythonFeed struct {
	Title, Link *string
	Items       []pythonFeed
}

func TestTitlesAndLinksMatchResultsOfPythonXMLParser(t *testing.T) {
	t.Parallel()
	fulltest.Needs(t, "another language")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 not found: install the package python3")
	}
	names, err := filepath.Glob("testdata/*/*.xml")
	if err != nil || len(names) < 25 {
		t.Fatalf("%d documents, %v", len(names), err)
	}
	dir := t.TempDir()
	for _, d := range feedtest.Corpus(2) {
		if d.Kind == feedtest.JSON || len(d.Body) > 500e3 {
			continue
		}
		name := filepath.Join(dir, d.Name)
		if err := os.WriteFile(name, d.Body, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", etreeProgram)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(rows) != len(names) {
		t.Fatalf("%d results for %d documents", len(rows), len(names))
	}
	compared := 0
	for i, name := range names {
		var theirs *pythonFeed
		if err := json.Unmarshal([]byte(rows[i]), &theirs); err != nil {
			t.Fatal(err)
		}
		if theirs != nil && !repairsSilently(name) {
			compared += compareWith(t, name, theirs)
		}
	}
	if compared < 1000 {
		t.Errorf("only %d titles and links were compared", compared)
	}
}

// repairsSilently lists test documents with invalid URLs that the parser repairs without
// a problem.
func repairsSilently(name string) bool {
	switch filepath.Base(name) {
	case "double-escaped.xml", "two-links.xml":
		return true
	}
	return false
}

// compareWith compares one document and returns the number of compared values.
func compareWith(t *testing.T, name string, theirs *pythonFeed) (n int) {
	t.Helper()
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feed.ParseBytes(doc, &feed.Options{KeepRelative: true, Limits: feed.Limits{Items: -1}})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	for _, p := range f.Problems {
		// A strict parser reads documents with these repairs differently, so the values are not
		// compared.
		switch p.Kind {
		case feed.ProblemEncoding, feed.ProblemCharacter, feed.ProblemEntity, feed.ProblemURL:
			return 0
		}
	}
	same := func(where string, theirs *string, ours string) {
		if theirs == nil {
			return
		}
		n++
		if ours = strings.Join(strings.Fields(ours), " "); ours != *theirs {
			t.Errorf("%s: %s is %q, Python has %q", name, where, ours, *theirs)
		}
	}
	same("title", theirs.Title, f.Title.Value)
	same("link", theirs.Link, f.Link)
	if len(f.Items) != len(theirs.Items) {
		t.Errorf("%s: %d items, Python has %d", name, len(f.Items), len(theirs.Items))
		return n
	}
	for i, item := range theirs.Items {
		same("an item's title", item.Title, f.Items[i].Title.Value)
		same("an item's link", item.Link, f.Items[i].Link)
	}
	return n
}
