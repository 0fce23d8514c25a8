package locale_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/web/locale"
)

// names matches texts that are the same in every language: names, examples and units.
var names = regexp.MustCompile(`^(Cloudburst|example\.org|\{\{\.Title\}\} · Cloudburst|2026-01-01T12:00:00Z|reader\.example\.com|rssCloud|WebSub|RSD|RSS|Atom|OPML|JSON Feed|rsscloud https://\S+|p50|p99|en|https://\S+)$`)

// english lists the templates of pages that exist only in English.
var english = []string{"docs.html", "docsnav.html", "guide.html"}

// templates returns the translated templates. key: file name; value: source of the template
func templates(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../shell/templates/*.html")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no templates", err)
	}
	all := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(path); !slices.Contains(english, name) {
			all[name] = string(b)
		}
	}
	return all
}

// entries returns the catalogue of a language. key: English text; value: its translation, or a map of the
// plural forms of the translation
func entries(t *testing.T, code string) map[string]any {
	t.Helper()
	paths, err := filepath.Glob(code + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var one map[string]any
		if err := json.Unmarshal(b, &one); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for key, text := range one {
			if all[key] != nil {
				t.Errorf("%s: the key %q is in another catalogue too", path, key)
			}
			all[key] = text
		}
	}
	return all
}

var (
	templateAction = regexp.MustCompile(`\{\{.*?\}\}`)
	tagText        = regexp.MustCompile(`<[^<>]*>`)
	marked         = regexp.MustCompile(`⟦[^⟧]*⟧`)
	element        = regexp.MustCompile(`(?s)<(script|style|pre|svg|symbol|code|kbd|samp)[ >].*?</(script|style|pre|svg|symbol|code|kbd|samp)>`)
	attribute      = regexp.MustCompile(` (title|aria-label|placeholder|alt)="([^"]*)"`)
)

// The test puts each translatable text of a template into brackets. Words outside these brackets, in texts
// or attributes, cannot be translated, so the test fails.
func TestEveryTextOfTheTemplatesIsTranslatable(t *testing.T) {
	t.Parallel()
	for name, source := range templates(t) {
		pseudo := locale.Rewrite(source, func(key string) string {
			return "⟦" + strings.Map(func(r rune) rune {
				if strings.ContainsRune(`"<>`, r) {
					return '.'
				}
				return r
			}, tagText.ReplaceAllString(templateAction.ReplaceAllString(key, ""), "")) + "⟧"
		})
		left := marked.ReplaceAllString(templateAction.ReplaceAllString(pseudo, ""), "")
		left = element.ReplaceAllString(left, "")
		for _, m := range attribute.FindAllStringSubmatch(left, -1) {
			if locale.HasWords(m[2]) {
				t.Errorf("%s: the attribute %s of %q is not translated", name, m[1], m[2])
			}
		}
		if rest := tagText.ReplaceAllString(left, ""); locale.HasWords(rest) {
			t.Errorf("%s: not translated: %q", name, strings.TrimSpace(rest))
		}
	}
}

func TestIdentityTranslationChangesNoTemplate(t *testing.T) {
	t.Parallel()
	space := regexp.MustCompile(`\s+`)
	for name, source := range templates(t) {
		same := locale.Rewrite(source, func(key string) string { return key })
		if space.ReplaceAllString(same, " ") != space.ReplaceAllString(source, " ") {
			t.Errorf("%s has changed to:\n%s", name, same)
		}
	}
}

// codeKeys returns the texts in the code of the pages that need a translation. These texts are arguments
// of the functions that translate, and values of the fields that templates show. The value of a key is its
// position in the code. all contains every string constant of the code.
func codeKeys(t *testing.T) (keys map[string]string, all map[string]bool) {
	t.Helper()
	keys, all = map[string]string{}, map[string]bool{}
	paths, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	own = append(own, "../../river/nextcheck.go") // pages of feeds show texts of this file
	for _, path := range append(paths, own...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := constant(n); ok {
				all[s] = true
			}
			for _, key := range keysOf(n) {
				if key != "" && !names.MatchString(key) {
					keys[key] = fset.Position(n.Pos()).String()
				}
			}
			return true
		})
	}
	maps.Copy(all, domainConstants(t))
	all["Try again in %s."] = true                              // the text of shell.Reason begins with a space
	for _, unit := range []string{"second", "minute", "hour"} { // lengths of time in texts of the domains
		all["%d "+unit+"s"] = true
	}
	maps.Copy(all, startTexts(t))
	return keys, all
}

// domains lists the packages whose texts the pages show.
var domains = []string{"account", "admin", "announce", "author", "author/inspect", "author/markup", "author/rules", "author/upload", "author/version", "checkup", "conversation", "endpoint/hubhttp", "fault", "fetch", "fulltext", "hub", "ownhost", "people",
	"publish", "river", "river/filter", "river/forward", "river/location", "river/naming", "river/search", "stylesheet", "upstream", "validator", "wirehttp", "../protocol/rsscloud", "../protocol/weblogs"}

// partly lists the packages of which pages show some texts only.
var partly = []string{"app", "config", "endpoint/publishhttp", "store/accountsql", "store/authorsql", "store/riversql", "store/sqlstore"}

// domainConstants returns the string constants of the domains.
func domainConstants(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, name := range slices.Concat(domains, partly) {
		eachFile(t, "../../"+name+"/*.go", func(n ast.Node, _ string) {
			if s, ok := constant(n); ok {
				_, last, _ := strings.Cut(s, ": ") // another text can come before it
				all[s], all[last] = true, true
			}
		})
	}
	return all
}

// eachFile passes each node of the files to do, without tests. at is the position of the node.
func eachFile(t *testing.T, pattern string, do func(n ast.Node, at string)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal(pattern, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				do(n, fset.Position(n.Pos()).String())
			}
			return true
		})
	}
}

// startTexts returns the names of folders and the descriptions of feeds of the recommended feeds.
func startTexts(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("../readerui/start.opml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:<outline text|description)="([^"]*)"`).FindAllSubmatch(b, -1) {
		all[string(m[1])] = true
	}
	return all
}

func constant(n ast.Node) (string, bool) {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

var (
	// shown lists the fields whose values are texts of the pages.
	shown = []string{"Message", "Lead", "Button"}
	// functions lists the functions that translate texts. key: name of the function; value: indexes of the
	// arguments that are texts, from 0
	functions = map[string][]int{"Say": {0}, "Words": {0}, "Format": {0}, "Quantity": {2}, "NewView": {1}, "AskFirst": {2}, "Problem": {3, 4}}
)

func keysOf(n ast.Node) (keys []string) {
	switch n := n.(type) {
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		pkg, _ := f.X.(*ast.Ident)
		if (f.Sel.Name == "Format" || f.Sel.Name == "Quantity") && (pkg == nil || pkg.Name != "locale") {
			return nil
		}
		for _, at := range functions[f.Sel.Name] {
			if len(n.Args) <= at {
				continue
			}
			if s, ok := constant(n.Args[at]); ok {
				if f.Sel.Name == "Quantity" {
					s = "%d " + s
				}
				keys = append(keys, s)
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if f, ok := left.(*ast.SelectorExpr); ok && i < len(n.Rhs) && slices.Contains(shown, f.Sel.Name) {
				if s, ok := constant(n.Rhs[i]); ok {
					keys = append(keys, s)
				}
			}
		}
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && slices.Contains(shown, name.Name) {
			if s, ok := constant(n.Value); ok {
				keys = append(keys, s)
			}
		}
	}
	return keys
}

var scriptKey = regexp.MustCompile("\\bt\\(\\s*(\"[^\"]*\")")

// scriptKeys returns the texts of the scripts, which are the constants in calls of the function t. key:
// "js: " and the text; value: path of the script
func scriptKeys(t *testing.T) map[string]string {
	t.Helper()
	keys := map[string]string{}
	paths, err := filepath.Glob("../shell/static/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scriptKey.FindAllStringSubmatch(string(b), -1) {
			if s, err := strconv.Unquote(m[1]); err == nil {
				keys["js: "+s] = path
			}
		}
	}
	return keys
}

// variants returns the translation of an entry, or all its plural forms.
func variants(entry any) (all []string) {
	switch e := entry.(type) {
	case string:
		return []string{e}
	case map[string]any:
		for _, v := range e {
			all = append(all, v.(string))
		}
	}
	return all
}

// Each text needs a translation with the same placeholders in each language. A translation of a text that
// no page uses is an error.
func TestTranslationCataloguesAreComplete(t *testing.T) {
	t.Parallel()
	wanted := map[string]string{}
	for name, source := range templates(t) {
		locale.Rewrite(source, func(key string) string {
			if !names.MatchString(key) {
				wanted[key] = name
			}
			wanted[name+": "+key] = ""
			return key
		})
		for _, m := range regexp.MustCompile(`\(once (?:"[^"]*"|\(print [^)]*\)) "([^"]*)"`).FindAllStringSubmatch(source, -1) {
			wanted[m[1]] = name
		}
	}
	keys, constants := codeKeys(t)
	maps.Copy(wanted, keys)
	maps.Copy(wanted, scriptKeys(t))
	for _, l := range locale.All()[1:] {
		have := entries(t, l.Code)
		for key, at := range wanted {
			if at != "" && have[key] == nil {
				t.Errorf("internal/web/locale/%s has no text for %q (%s)", l.Code, key, at)
			}
		}
		for key, entry := range have {
			if _, ok := wanted[key]; !ok && !constants[key] && !constants[strings.TrimPrefix(key, "%d ")] && !isName(key) {
				t.Errorf("internal/web/locale/%s: the key %q is not used", l.Code, key)
			}
			for _, text := range variants(entry) {
				comparePlaceholders(t, key, text)
			}
		}
	}
}

// isName reports whether key is the name of a weekday or the long or short name of a month. Dates use all
// these names.
func isName(key string) bool {
	for day := range 7 {
		if key == time.Weekday(day).String() {
			return true
		}
	}
	for month := time.January; month <= time.December; month++ {
		if key == month.String() || key == month.String()[:3] {
			return true
		}
	}
	return false
}

var (
	placeholder = regexp.MustCompile(`\{\{.*?\}\}|</?[a-z]+\d*>|%[a-z]`)
	fileContext = regexp.MustCompile(`^\w+\.html: `)
)

func comparePlaceholders(t *testing.T, key, text string) {
	t.Helper()
	a := placeholder.FindAllString(fileContext.ReplaceAllString(key, ""), -1)
	b := placeholder.FindAllString(text, -1)
	if !strings.Contains(key, "{{") && strings.Contains(key, "%") { // a translation must keep the order of the verbs of package fmt
		if !slices.Equal(a, b) {
			t.Errorf("%q has the verbs %q, but its translation %q has %q", key, a, text, b)
		}
		return
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("%q has the placeholders %q, but its translation %q has %q", key, a, text, b)
	}
}

func TestAcceptLanguageSelectsTheLanguage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "de": "de", "de-AT,de;q=0.8": "de", "en-US,en;q=0.9,de;q=0.8": "en", "de;q=0.3, en;q=0.9": "en", "fr": "en", "fr,de;q=0.5": "de",
		"*": "en", "\x00;;;": "en", strings.Repeat("de,", 500): "en", "de-CH-1996": "de",
	} {
		if got := locale.Match(header).Code; got != want {
			t.Errorf("Accept-Language %.40q: %s, want %s", header, got, want)
		}
	}
}

func TestNumbersTimesAndPluralsFollowTheLanguage(t *testing.T) {
	t.Parallel()
	en, de := locale.English(), locale.Find("de")
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{en.Count(1234567), "1,234,567"}, {de.Count(1234567), "1.234.567"},
		{en.Duration(1500 * time.Millisecond), "1.5 s"}, {de.Duration(1500 * time.Millisecond), "1,5 s"},
		{en.Relative(now, now.Add(-2*time.Hour)), "2 h ago"}, {de.Relative(now, now.Add(-2*time.Hour)), "vor 2 Std."},
		{en.Relative(now, now.Add(-72*time.Hour)), "3 days ago"}, {de.Relative(now, now.Add(-72*time.Hour)), "vor 3 Tagen"},
		{en.Relative(now, now.AddDate(0, -8, 0)), "28 Mar 2026"}, {de.Relative(now, now.AddDate(0, -8, 0)), "28. März 2026"},
		{en.Date(now, "Monday, 2 January 2006"), "Saturday, 28 November 2026"}, {de.Date(now, "Monday, 2 January 2006"), "Samstag, 28. November 2026"},
		{de.Date(now, "Monday"), "Samstag"}, {de.Date(now, "January"), "November"}, {de.Date(now.AddDate(0, 2, 0), "January 2006"), "Januar 2027"},
		{locale.Quantity(1, "feed", "feeds").String(), "1 feed"}, {locale.Quantity(1204, "feed", "feeds").In(en), "1,204 feeds"},
		{locale.Quantity(1, "feed", "feeds").In(de), "1 Feed"}, {locale.Quantity(1204, "feed", "feeds").In(de), "1.204 Feeds"},
		{en.Say("Marked %s read.", locale.Quantity(2, "item", "items")), "Marked 2 items read."},
		{de.Say("Marked %s read.", locale.Quantity(2, "item", "items")), "2 Einträge als gelesen markiert."},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestReasonsOfOtherPackagesAreTranslated(t *testing.T) {
	t.Parallel()
	de := locale.Find("de")
	for text, want := range map[string]string{
		"no hints, so every 1 h":                                      "keine Angaben, daher alle 1 Std.",
		"a post about every 1 h 30 min":                               "ein Beitrag etwa alle 1 Std. 30 Min.",
		"nothing new for 3 days, 12 h is the longest wait":            "3 Tage nichts Neues, 12 Std. ist die längste Wartezeit",
		"max-age 12 h seen 02:20; ttl 60, a and b considered":         "max-age 12 Std., gesehen 02:20; ttl 60, a und b berücksichtigt",
		"no hints, so every 1 h; ttl 15 and max-age 1 min considered": "keine Angaben, daher alle 1 Std.; ttl 15 und max-age 1 Min. berücksichtigt",
		"its hub pushed a change, by WebSub":                          "der Hub hat eine Änderung gemeldet, über WebSub",
		"it was due":                                                  "sie war fällig",
		"Items: 1,204 new, 2 edited.":                                 "Einträge: 1.204 neu, 2 bearbeitet.",
		"2,805 bytes":                                                 "2.805 Bytes",
		"3 new, 1 withdrawn":                                          "3 neu, 1 zurückgezogen",
		"in full: it has never been read":                             "vollständig: noch nie gelesen",
		"Failed: its server took too long, 3 times in a row.":         "Fehlgeschlagen: der Server hat zu lange gebraucht, 3-mal nacheinander.",
		"Its server cannot be reached.":                               "Der Server ist nicht erreichbar.",
		"":                                                            "",
	} {
		if got := de.Reason(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := locale.English().Reason(text); got != text {
			t.Errorf("in English, %q is %q", text, got)
		}
	}
}
