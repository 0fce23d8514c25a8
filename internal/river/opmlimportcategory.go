package river

import (
	"slices"

	"cloudburst/feed/opml"
	"cloudburst/internal/river/naming"
)

// categories returns the categories that the position and attributes of a feed express: the
// innermost folder, and the last part of each category path.
//
// spec:cloudburst#opml-innermost-folder
func (g *gatherer) categories(folders []string, o *opml.Outline) []string {
	names := []string{g.category}
	if len(folders) > 0 {
		names = append(names, naming.ImportedCategory(plainText(folders[len(folders)-1]), g.out.imported.problem))
	}
	for _, path := range o.Category.Paths() { // no path is empty
		names = append(names, naming.ImportedCategory(path[len(path)-1], g.out.imported.problem))
	}
	return joinNames(nil, names)
}

// joinNames returns the union of both lists, sorted and limited to naming.MostCategories.
func joinNames(have, more []string) []string {
	out := slices.Clone(have)
	for _, m := range more {
		if m != "" && !slices.Contains(out, m) && len(out) < naming.MostCategories {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}
