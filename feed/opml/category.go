package opml

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Category is the attribute "category" as written: categories with commas between
// them, each a path with slashes (/Philosophy/Baseball/Mets) or a tag (Tourism).
// In JSON it is a list of strings.
type Category string

// List is the categories without the white space around them. Empty ones are left
// out.
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

// Paths is List with each category taken apart: /Philosophy/Baseball is
// ["Philosophy", "Baseball"], and a tag is a path of one.
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

// Categories makes a Category of paths and tags. A comma within one becomes a
// space: it would part it.
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

// MarshalJSON gives the list.
func (c Category) MarshalJSON() ([]byte, error) {
	list := c.List()
	if list == nil {
		list = []string{}
	}
	return plainJSON(list)
}

// UnmarshalJSON takes a list, or the attribute in one string.
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

// plainJSON leaves < and & as they are: the encoder outside escapes them if it is
// told to.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
