// Command sbom writes the bill of materials of a Go program as CycloneDX 1.6 (JSON): every module
// in the build information of the program, as go version -m shows it.
//
//	sbom PROGRAM >FILE
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type document struct {
	Format   string `json:"bomFormat"`
	Spec     string `json:"specVersion"`
	Version  int    `json:"version"`
	Metadata struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "sbom: it needs the program to look into")
		os.Exit(2)
	}
	info, err := buildinfo.ReadFile(os.Args[1])
	if err == nil {
		err = write(os.Stdout, info)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write writes the bill of materials. Its output has no time and no random number, so the same
// program always gives the same bytes.
func write(w io.Writer, info *debug.BuildInfo) error {
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1}
	d.Metadata.Component = component{Type: "application", Ref: info.Main.Path, Name: info.Main.Path}
	for _, s := range info.Settings {
		d.Metadata.Component.Properties = append(d.Metadata.Component.Properties, property{"cloudburst:build:" + s.Key, s.Value})
	}
	all := []*debug.Module{{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range append(all, info.Deps...) {
		if m.Replace != nil {
			m = m.Replace
		}
		ref := "pkg:golang/" + strings.ToLower(m.Path) + "@" + m.Version
		c := component{Type: "library", Ref: ref, Name: m.Path, Version: m.Version, PURL: ref}
		if m.Sum != "" {
			c.Properties = []property{{"cloudburst:go.sum", m.Sum}}
		}
		d.Components = append(d.Components, c)
	}
	on := dependency{Ref: info.Main.Path}
	for _, c := range d.Components {
		on.DependsOn = append(on.DependsOn, c.Ref)
	}
	d.Dependencies = []dependency{on}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
