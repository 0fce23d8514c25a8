// Package docs contains the documentation that the program serves: Markdown pages in folders, and
// their images. [Files] contains the files; [Moved] maps former names of pages to current names.
package docs

import "embed"

// Files contains the pages and images.
//
//go:embed *.md */*.md images
var Files embed.FS

// Moved maps the former name of a page to the current name, both without extension. For example,
// "start-reader" is now "get-started/reader". The server redirects links to former names.
func Moved() map[string]string {
	moved := map[string]string{
		"start-reader": "get-started/reader", "start-blogger": "get-started/writer",
		"start-operator": "get-started/operator", "start-developer": "get-started/developer",
		"protocol": "reference/protocols", "signals": "reference/protocols", "scale": "guides/nodes",
	}
	for folder, names := range map[string][]string{
		"guides":    {"hub", "writing", "hosting", "moving", "pinging-out", "river", "apps", "notices", "operations"},
		"reference": {"authoring-apis", "doctor", "feed-data", "formats", "json", "river-json", "settings"},
		"internals": {"performance", "reliability", "simulation"},
	} {
		for _, name := range names {
			moved[name] = folder + "/" + name
		}
	}
	return moved
}
