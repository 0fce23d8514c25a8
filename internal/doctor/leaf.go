package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cloudburst/internal/charset"
	"cloudburst/internal/scan"
)

// leaf is a value in a document with its path: rss/channel/item[2]/title.
type leaf struct{ path, value string }

// Limits on the memory that a document with much markup can use.
const (
	maxLeaves = 100_000
	maxPaths  = 16 << 20 // maximum total length of all paths in bytes
	maxName   = 64       // maximum length of a name in bytes; a longer name is cut
)

// leaves returns the texts and attributes of XML, or the values of JSON, in order.
func leaves(a *answer) []leaf {
	if doc := bytes.TrimSpace(a.body); len(doc) > 0 && doc[0] == '{' {
		var v any
		if json.Unmarshal(doc, &v) != nil { // encoding/json limits the depth
			return nil
		}
		return jsonLeaves(nil, "", v)
	}
	return xmlLeaves(charset.Decode(a.body, a.header.Get("Content-Type")).Text)
}

// level is an open element.
type level struct {
	path   string
	text   strings.Builder
	counts map[string]int // key: element name; value: number of child elements
}

func xmlLeaves(doc string) []leaf {
	var out []leaf
	open := []*level{{counts: map[string]int{}}}
	r := scan.New(doc, scan.Options{})
	paths := 0
	for len(out) < maxLeaves && paths < maxPaths {
		top := open[len(open)-1]
		switch r.Next() {
		case scan.EOF:
			return out
		case scan.Start:
			name := strings.Clone(r.Name[:min(len(r.Name), maxName)])
			top.counts[name]++
			path := strings.TrimPrefix(top.path+"/"+name, "/")
			if n := top.counts[name]; n > 1 || r.Local == "item" || r.Local == "entry" {
				path += fmt.Sprintf("[%d]", n)
			}
			for i := range r.Attrs {
				attr := path + "/@" + r.Attrs[i].Name[:min(len(r.Attrs[i].Name), maxName)]
				out = append(out, leaf{attr, r.Decode(r.Attrs[i].Raw)})
				paths += len(attr)
			}
			paths += len(path)
			open = append(open, &level{path: path, counts: map[string]int{}})
		case scan.Text:
			top.text.WriteString(r.Chars())
		case scan.End:
			if len(open) > 1 {
				open = open[:len(open)-1]
				out = append(out, leaf{top.path, strings.TrimSpace(top.text.String())})
			}
		}
	}
	return out
}

func jsonLeaves(out []leaf, path string, v any) []leaf {
	if len(out) >= maxLeaves {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = jsonLeaves(out, strings.TrimPrefix(path+"/"+name, "/"), v[name])
		}
		return out
	case []any:
		for i := range v {
			out = jsonLeaves(out, fmt.Sprintf("%s[%d]", path, i+1), v[i])
		}
		return out
	}
	return append(out, leaf{path, fmt.Sprint(v)})
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "") }
