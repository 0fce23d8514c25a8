package cloudburst_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// small returns a module of four layers that obeys all import rules, and the rules.
func small() (fstest.MapFS, ruleset) {
	tree := fstest.MapFS{
		"go.mod":             file("module m\n\ngo 1.26\n\nrequire (\n\tx.org/db v1.0.0\n\tx.org/deep v1.0.0 // indirect\n)\n\nrequire x.org/cmp v1.0.0\n\nreplace (\n\tx.org/db => ../db\n)\n"),
		"wire/wire.go":       source("wire"),
		"cloth/cloth.go":     source("cloth"),
		"core/core.go":       source("core", "context", "net/http"),
		"core/core_test.go":  source("core_test", "testing", "m/core", "m/disk/disktest", "m/disk/one", "x.org/cmp/opts"),
		"disk/disktest/d.go": source("disktest", "testing", "m/core", "x.org/cmp"),
		"disk/one/one.go":    source("one", "m/core", "x.org/db"),
		"gate/gate.go":       source("gate", "m/core", "m/wire"),
		"gate/gate_test.go":  source("gate", "m/disk/one", "x.org/cmp"),
		"main/main.go":       source("main", "m/gate", "m/disk/one"),
		"lab/dish/dish.go":   source("dish", "m/gate"),
		"lab/tritest/t.go":   source("tritest", "m/lab/dish"),
		"labmain/main.go":    source("main", "m/lab/dish"),
		"check/check.go":     source("check"),
	}
	r := ruleset{
		module: "m",
		layers: []layer{
			{"wire", []string{"wire", "cloth"}},
			{"meaning", []string{"core"}},
			{"disk", []string{"disk/disktest"}},
			{"disks", []string{"disk/one"}},
			{"reach", []string{"gate"}},
			{"main", []string{"main"}},
			{"laboratory", []string{"lab/dish"}},
			{"main of the laboratory", []string{"labmain", "lab/tritest"}},
			{"checks", []string{"check"}},
		},
		blind:      map[string][]string{"core": {"wire"}},
		seenBy:     map[string][]string{"gate": {"main", "lab/dish"}},
		within:     map[string][]string{"lab": {"labmain"}},
		grants:     []grant{{"x.org/db", "disk/one", "the disk"}},
		testGrants: []grant{{"x.org/cmp", "", "differences"}},
		testsSee:   map[string][]string{"core": {"disk/one"}},
	}
	return tree, r
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func source(name string, imports ...string) *fstest.MapFile {
	text := "package " + name + "\n"
	for _, i := range imports {
		text += "import _ \"" + i + "\"\n"
	}
	return file(text)
}

func tagged(f *fstest.MapFile) *fstest.MapFile {
	return file("//go:build plan9 && never\n\n" + string(f.Data))
}

func TestValidImportsPassTheImportRule(t *testing.T) {
	t.Parallel()
	tree, r := small()
	maps.Copy(tree, fstest.MapFS{
		"core/testdata/src/bad.go": source("bad", "m/main", "y.org/z"),
		".cache/bad.go":            source("bad", "m/main", "y.org/z"),
		"main/inner/go.mod":        file("module inner\n"),
		"main/inner/inner.go":      source("inner", "m/gate", "y.org/z"),
	})
	if wrong := findings(t, tree, r); len(wrong) != 0 {
		t.Errorf("a good tree is refused:\n%s", strings.Join(wrong, "\n"))
	}
}

func TestImportRuleDetectsForbiddenImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add    fstest.MapFS
		remove string
		want   string
	}{
		"an import of the same layer": {
			add: fstest.MapFS{"wire/more.go": source("wire", "m/cloth")}, want: `wire/more.go imports m/cloth: both are in layer "wire"`},
		"an import of a later layer": {
			add: fstest.MapFS{"core/more.go": source("core", "m/disk/one")}, want: `core/more.go imports m/disk/one: layer "disks" comes after layer "meaning"`},
		"a bad import behind a build tag": {
			add: fstest.MapFS{"core/more_windows.go": tagged(source("core", "m/gate"))}, want: `core/more_windows.go imports m/gate: layer "reach"`},
		"an earlier package that the table hides": {
			add: fstest.MapFS{"core/more.go": source("core", "m/wire")}, want: "core/more.go imports m/wire: the table says that core does not know it"},
		"an import of the laboratory in the product": {
			add: fstest.MapFS{"main/more.go": source("main", "m/lab/dish")}, want: "main/more.go imports m/lab/dish: what is below lab stays within it"},
		"one in a test of the product": {
			add: fstest.MapFS{"gate/more_test.go": source("gate_test", "m/lab/tritest")}, want: "gate/more_test.go imports m/lab/tritest: what is below lab stays within it"},
		"one in a later layer": {
			add: fstest.MapFS{"check/more.go": source("check", "m/lab/dish")}, want: "check/more.go imports m/lab/dish: what is below lab stays within it"},
		"a test package in production": {
			add: fstest.MapFS{"gate/more.go": source("gate", "m/disk/disktest")}, want: "gate/more.go imports m/disk/disktest: a test package may be imported by tests only"},
		"a test that imports a later layer": {
			add: fstest.MapFS{"wire/wire_test.go": source("wire_test", "m/core")}, want: `wire/wire_test.go imports m/core: layer "meaning" comes after`},
		"a package that is not listed": {
			add: fstest.MapFS{"extra/extra.go": source("extra")}, want: "package extra is in no layer"},
		"a test alone in a folder that is not listed": {
			add: fstest.MapFS{"extra/extra_test.go": source("extra_test")}, want: "package extra is in no layer"},
		"an import of a package that is not listed": {
			add: fstest.MapFS{"extra/extra.go": source("extra"), "main/more.go": source("main", "m/extra")}, want: "main/more.go imports m/extra: it is in no layer"},
		"a listed package that is gone": {
			remove: "cloth/cloth.go", want: `package cloth is listed in layer "wire" and is gone`},
		"a module without grant": {
			add: fstest.MapFS{"gate/more.go": source("gate", "y.org/z")}, want: "gate/more.go imports y.org/z: no grant lets gate import this module"},
		"a module granted to another package": {
			add: fstest.MapFS{"gate/more.go": source("gate", "x.org/db/sub")}, want: "gate/more.go imports x.org/db/sub: no grant"},
		"a module whose name only begins the same": {
			add: fstest.MapFS{"disk/one/more.go": source("one", "x.org/db2")}, want: "disk/one/more.go imports x.org/db2: no grant"},
		"a test module in production": {
			add: fstest.MapFS{"gate/more.go": source("gate", "x.org/cmp")}, want: "gate/more.go imports x.org/cmp: no grant"},
		"a module without grant in a test": {
			add: fstest.MapFS{"gate/more_test.go": source("gate", "x.org/db")}, want: "gate/more_test.go imports x.org/db: no grant"},
		"a module of production in a test package": {
			add: fstest.MapFS{"disk/disktest/more.go": source("disktest", "x.org/db")}, want: "disk/disktest/more.go imports x.org/db: no grant"},
		"a grant that nobody uses": {
			add: fstest.MapFS{"disk/one/one.go": source("one", "m/core")}, want: "the grant of x.org/db to disk/one is not used"},
		"a required module that nobody imports": {
			add: fstest.MapFS{"go.mod": file("module m\n\nrequire x.org/idle v1.0.0\n")}, want: "go.mod requires x.org/idle, and no package imports it"},
		"one in a block": {
			add: fstest.MapFS{"go.mod": file("module m\n\nrequire (\n\tx.org/idle v1.0.0 // why\n)\n")}, want: "go.mod requires x.org/idle, and no package imports it"},
		"cgo": {
			add: fstest.MapFS{"gate/more.go": source("gate", "C")}, want: "gate/more.go imports C: there is no C"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, r := small()
			maps.Copy(tree, c.add)
			delete(tree, c.remove)
			wrong := strings.Join(findings(t, tree, r), "\n")
			if !strings.Contains(wrong, c.want) {
				t.Errorf("got:\n%s\nwant:\n%s", wrong, c.want)
			}
		})
	}
}

func TestImportRuleDetectsRestrictedImports(t *testing.T) {
	t.Parallel()
	tree, r := small()
	r.seenBy["core"] = []string{"disk/one", "disk/disktest"}
	wrong := strings.Join(findings(t, tree, r), "\n")
	if want := "gate/gate.go imports m/core: only disk/one and disk/disktest may see it"; wrong != want {
		t.Errorf("got:\n%s\nwant:\n%s", wrong, want)
	}
}

func TestImportRuleDetectsMistakesInItsTables(t *testing.T) {
	t.Parallel()
	tree, r := small()
	r.layers = append(r.layers, layer{"again", []string{"core"}})
	r.testGrants[0].why = ""
	wrong := strings.Join(findings(t, tree, r), "\n")
	for _, want := range []string{"package core is listed twice", "the grant of x.org/cmp gives no reason"} {
		if !strings.Contains(wrong, want) {
			t.Errorf("got:\n%s\nwant:\n%s", wrong, want)
		}
	}
}
