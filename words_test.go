package cloudburst_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// refusedWords are words that this project does not use, with the words to use instead.
// CONTRIBUTING.md defines the terms.
var refusedWords = func() map[string]string {
	refused := map[string]string{}
	for words, instead := range map[string]string{
		"door doors":                "endpoint, interface, via",
		"tell tells telling told":   "notify, send, report, print",
		"untold":                    "not reported, pending",
		"hear hears heard hearing":  "receive, push",
		"owe owes owed owing":       "pending",
		"sink sinks":                "ping target, receiver",
		"stranger strangers":        "unknown client, unknown topic, other user",
		"vain":                      "unverified, failed",
		"desk desks":                "scheduler",
		"crowd crowds":              "keyed semaphore, clients, users",
		"sheet sheets":              "form",
		"mend mends mended mending": "fix, repair",
		"twin twins":                "counterpart, copy",
		"apart":                     "separate, per topic",
		"beside":                    "next to, with",
		"besides":                   "also, in addition to",
		"anew":                      "again",
		"whoever":                   "a noun: the client, the subscriber",
		"whereupon":                 "then",
		"shall":                     "must, will",
		"manners":                   "polite fetching rules",
		"leaning":                   "italic",
		"picture pictures":          "image",
		"blank blanks":              "space, empty",
		"stretch stretches":         "scope, range",
		"dress":                     "render, format",
		"dies death":                "crashes, stops; crash",
		"world worlds":              "scenario, network, system",
	} {
		for word := range strings.FieldsSeq(words) {
			refused[word] = instead
		}
	}
	return refused
}()

// allowedWords lists the files and folders where refused words are allowed: names on the wire, in
// settings and in stored data, and quotations. Remove an entry when the words no longer occur
// there.
var allowedWords = []struct{ path, words, reason string }{
	{"words_test.go", "*", "the list itself"},
	{"CONTRIBUTING.md", "door", "the glossary names the old word"},

	// These are names on the wire, in settings and in stored data.
	{"CHANGELOG.md", "sinks", "command"},
	{"client", "sink sinks owed owing told telling", "event kind, paths and values of the JSON API"},
	{"docs/reference/commands.md", "door heard mended picture sink sinks stranger told", "commands, flags, JSON keys and values"},
	{"docs/reference/doctor.md", "door told", "IDs of checks"},
	{"docs/reference/json.md", "mend stranger", "JSON key, flag"},
	{"docs/guides/monitoring.md", "door", "attribute of traces"},
	{"docs/guides/pinging-out.md", "sink sinks", "event kind, command, paths"},
	{"docs/reference/routes.md", "sinks", "paths"},
	{"docs/reference/river-json.md", "door heard mended", "JSON keys"},
	{"docs/reference/settings.md", "sinks", "former name of a setting"},
	{"internal/app", "door heard owed sink told", "event kind, attribute of traces, stored states, JSON keys"},
	{"internal/api", "sink sinks owed owing told telling", "metric, paths and values of the JSON API"},
	{"internal/author/profile.go", "sinks", "JSON key"},
	{"internal/cli", "door heard mended owed owing sink sinks stranger telling told", "commands, flags, JSON keys and values"},
	{"internal/config", "sinks", "former name of a setting"},
	{"internal/doctor", "door told", "IDs of checks"},
	{"internal/event/event.go", "sink", "event kind"},
	{"internal/hub/state.go", "vain", "key of the shared rates"},
	{"internal/media", "picture pictures", "stored value"},
	{"internal/store", "door doors heard owed sink told", "columns"},
	{"internal/trace/step.go", "door", "attribute of traces"},
	{"internal/web/hubui", "sink told", "event kind, IDs of figures"},
	{"internal/web/shell", "beside picture sheet sinks stretch", "names of HTML, CSS and forms"},
	{"internal/web/writerui", "sinks", "name of a form field"},
	{"internal/web/writeprofile_test.go", "sinks", "name of a form field"},
	{"packaging/monitoring", "owed", "metric"},

	{"lab/bench", "door", "value of a flag"},
	{"lab/browsertest", "beside picture sheet world", "names of HTML and CSS, a post"},
	{"lab/signaltest", "door heard", "JSON key, names of signals"},

	// These are elements and attributes of HTML and SVG.
	{"internal/href/detect.go", "picture", "element"},
	{"internal/sanitize", "blank picture stretch", "element, attribute, about:blank"},
	{"internal/web/content", "picture", "element"},

	// These are words in the feeds and posts of tests.
	{"feed/detect_test.go", "world", "a page"},
	{"feed/feedtest", "desk world", "generated content"},
	{"feed/jsonbench_test.go", "doors", "a post"},
	{"feed/opml/opml_test.go", "world", "a title"},
	{"feed/render/goldendata_test.go", "world", "a title"},
	{"internal/app/guides_test.go", "picture", "a post"},
	{"internal/app/guidescalls_test.go", "apart world", "quotation, a post"},
	{"internal/checkup/checkup_test.go", "world", "world-readable"},
	{"internal/cli/writecli/publish.go", "picture", "a post"},
	{"internal/author/posts_test.go", "world", "a post"},
	{"internal/store/riversql/words_test.go", "world", "search words"},
	{"internal/web/author_test.go", "picture pictures", "file names"},
	{"internal/web/changes_test.go", "door", "a hostile name"},
	{"internal/web/content/body_test.go", "tells whoever", "a post"},
	{"internal/web/imagesize_test.go", "told", "a URL"},
	{"internal/web/river_rich_test.go", "picture tells whoever", "a post"},
	{"internal/web/source_fake_test.go", "world", "a title"},
	{"internal/web/write_test.go", "pictures world", "a post, a path"},
	{"protocol/micropub/example_test.go", "world", "a post"},
}

// ordinaryWords matches phrases in which refused words are allowed, and citations of rules.
var ordinaryWords = regexp.MustCompile(`(?i)hello,? world|style ?sheets?|_blank|spec:\S+`)

// wordsOf splits text into words at every character that is not a letter, and splits identifiers
// at their capitals.
func wordsOf(text string) (words []string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		runes, from := []rune(part), 0
		for i := 1; i <= len(runes); i++ {
			if i == len(runes) || unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
				words = append(words, strings.ToLower(string(runes[from:i])))
				from = i
			}
		}
	}
	return words
}

// goTexts calls visit with each comment, identifier and string of a Go file, except struct tags,
// which contain names on the wire.
func goTexts(src []byte, visit func(line int, text string)) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	last := token.EOF
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return
		case token.COMMENT, token.IDENT, token.STRING:
			afterType := last == token.IDENT || last == token.RBRACK || last == token.RBRACE || last == token.RPAREN
			if tok == token.STRING && afterType && strings.HasPrefix(text, "`") {
				break // skip the struct tag
			}
			n := file.Line(pos)
			for line := range strings.SplitSeq(text, "\n") {
				visit(n, line)
				n++
			}
		}
		last = tok
	}
}

// isWordFile reports whether the file called name contains text for people, so that the word
// rules apply.
func isWordFile(name string) bool {
	switch {
	case strings.Contains(name, "testdata/"):
		return false
	case name == "Makefile", name == ".ci/run", strings.HasPrefix(name, "packaging/"):
		return true
	}
	return slices.Contains([]string{".go", ".md", ".html", ".js", ".css", ".sh", ".py"}, path.Ext(name))
}

// refusedIn lists the refused words in the tree, and the exceptions that are no longer needed.
func refusedIn(tree fs.FS) (wrong []string, err error) {
	needed := map[string]bool{}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case !isWordFile(name):
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		visit := func(line int, text string) {
			for _, word := range wordsOf(ordinaryWords.ReplaceAllString(text, " ")) {
				instead, refused := refusedWords[word]
				if refused && !allowed(name, word, needed) {
					wrong = append(wrong, fmt.Sprintf("%s:%d: %q: write %s", name, line, word, instead))
				}
			}
		}
		if path.Ext(name) == ".go" {
			goTexts(src, visit)
			return nil
		}
		n := 1
		for line := range strings.SplitSeq(string(src), "\n") {
			visit(n, line)
			n++
		}
		return nil
	})
	for _, a := range allowedWords {
		for word := range strings.FieldsSeq(a.words) {
			if !needed[a.path+" "+word] {
				wrong = append(wrong, fmt.Sprintf("allowedWords: %s no longer contains %q: remove the exception", a.path, word))
			}
		}
	}
	return wrong, err
}

// allowed reports whether an exception allows the word in the file, and marks the exception as
// needed.
func allowed(name, word string, needed map[string]bool) bool {
	for _, a := range allowedWords {
		if name != a.path && !strings.HasPrefix(name, a.path+"/") {
			continue
		}
		for w := range strings.FieldsSeq(a.words) {
			if w == word || w == "*" {
				needed[a.path+" "+w] = true
				return true
			}
		}
	}
	return false
}

func TestTextsUseOnlyAllowedWords(t *testing.T) {
	t.Parallel()
	wrong, err := refusedIn(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestForbiddenWordsAreDetected(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"p/a.go":          file("package p\n\n// The door.\nvar (\n\ttoldAll = \"owed\" // sinks\n\tHTTPDoor int `json:\"door\"`\n)\n\nfunc f(s string) { f(`vain`) }\n"),
		"p/testdata/a.go": file("package p // door\n"),
		"d.md":            file("Hello, world.\nA style sheet, and beside it a world.\n"),
		"p/good.html":     file("<a target=\"_blank\">backdoor untoldable</a>\n"),
	}
	wrong, err := refusedIn(tree)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, w := range wrong {
		if place, rest, ok := strings.Cut(w, ": \""); ok && !strings.HasPrefix(w, "allowedWords") {
			word, _, _ := strings.Cut(rest, "\"")
			found[place+" "+word] = true
		}
	}
	want := []string{"d.md:2 beside", "d.md:2 world", "p/a.go:3 door", "p/a.go:5 owed", "p/a.go:5 sinks", "p/a.go:5 told", "p/a.go:6 door", "p/a.go:9 vain"}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
