package opml

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Category is the attribute "category", unchanged: a comma-separated list of paths
// (/Philosophy/Baseball/Mets) and tags (Tourism). In JSON it is a list of strings.
type Category string

// List returns the categories without surrounding white space. It omits empty ones.
//
// spec:opml20-2007#category
func (c Category) List() []string {
	var list []string
	for one := range strings.SplitSeq(string(c), ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// Paths splits each category of List at its slashes: /Philosophy/Baseball is ["Philosophy",
// "Baseball"], and a tag is a path of one element.
func (c Category) Paths() [][]string {
	var paths [][]string
	for _, one := range c.List() {
		var path []string
		for step := range strings.SplitSeq(one, "/") {
			if step = strings.TrimSpace(step); step != "" {
				path = append(path, step)
			}
		}
		if path != nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// Categories joins paths and tags into a Category. A comma within one of them becomes a space,
// because commas separate categories.
func Categories(list ...string) Category {
	clean := make([]string, 0, len(list))
	for _, one := range list {
		one = strings.Join(strings.Fields(strings.ReplaceAll(one, ",", " ")), " ")
		if one != "" {
			clean = append(clean, one)
		}
	}
	return Category(strings.Join(clean, ","))
}

// MarshalJSON encodes the list of categories.
func (c Category) MarshalJSON() ([]byte, error) {
	list := c.List()
	if list == nil {
		list = []string{}
	}
	return plainJSON(list)
}

// UnmarshalJSON accepts a list of strings, or the attribute as one string.
func (c *Category) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte(`"`)) {
		return json.Unmarshal(b, (*string)(c))
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*c = Categories(list...)
	return nil
}

// plainJSON encodes v without escaping < and &. The outer encoder escapes them if it is configured
// to.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
