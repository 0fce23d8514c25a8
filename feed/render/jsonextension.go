package render

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cloudburst/feed"
)

// Package feed stores the members that JSON Feed does not define as trees of nodes. The comment of
// method json in feed/jsonfeed.go states which value becomes which node. This file converts the
// nodes back.

// extensions writes the members that the format does not define. known reports whether the format
// defines a name; such members are already written.
//
// spec:jsonfeed11-2020#extensions
func (j *jsonWriter) extensions(list []feed.Node, known func(string) bool) {
	foreign := 0
	own := func(n *feed.Node) bool {
		if n.Name == "" || known(n.Name) {
			return false
		}
		if n.Space != "" || n.Prefix != "" || j.f.Format != feed.JSONFeed && !isExtensionName(n.Name) {
			foreign++
			return false
		}
		return true
	}
	j.members(list, own, 0)
	if foreign > 0 {
		j.warn("unknown", "unknown", "JSON Feed cannot represent elements of other formats; they are omitted. Number of elements: ", strconv.Itoa(foreign), ".")
	}
}

// isExtensionName reports whether a name is allowed for extensions: it begins with an underscore
// and a letter.
func isExtensionName(s string) bool {
	rest, ok := strings.CutPrefix(s, "_")
	letter, _ := utf8.DecodeRuneInString(rest)
	return ok && unicode.IsLetter(letter)
}

// members writes nodes as the members of an object. Consecutive nodes of one name become a list. If
// a name appears again after other nodes, the later nodes are omitted.
func (j *jsonWriter) members(list []feed.Node, own func(*feed.Node) bool, depth int) {
	var seen map[string]bool
	for i := 0; i < len(list); {
		n := &list[i]
		from := i
		for i++; i < len(list) && list[i].Name == n.Name; i++ {
		}
		if seen[n.Name] || own != nil && !own(n) {
			continue
		}
		if seen == nil {
			seen = make(map[string]bool, len(list)-from)
		}
		seen[n.Name] = true
		j.name(j.validText(n.Name, "unknown"))
		if i-from == 1 {
			j.value(n, depth)
			continue
		}
		j.list(list[from:i], depth)
	}
}

func (j *jsonWriter) list(nodes []feed.Node, depth int) {
	j.open('[')
	for i := range nodes {
		j.next()
		j.value(&nodes[i], depth)
	}
	j.shut(']')
}

// value writes the value of a node.
func (j *jsonWriter) value(n *feed.Node, depth int) {
	const deepest = 500
	kind := ""
	if len(n.Attrs) == 1 && n.Attrs[0].Name == "type" {
		kind = n.Attrs[0].Value
	}
	switch {
	case depth > deepest:
		j.b = append(j.b, "null"...)
	case kind == "array":
		j.list(n.Children, depth+1)
	case kind == "object" || len(n.Children) > 0:
		j.open('{')
		j.members(n.Children, nil, depth+1)
		j.shut('}')
	case kind == "null" && (n.Text == "" || n.Text == "null"),
		kind == "boolean" && (n.Text == "true" || n.Text == "false"),
		kind == "number" && isNumber(n.Text):
		j.b = append(j.b, cmp.Or(n.Text, "null")...)
	default:
		j.b = quoteJSON(j.b, j.validText(n.Text, "unknown"))
	}
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && json.Valid([]byte(s))
}

// jsonParts finds the nodes that contain the extensions of the elements of a list. The nodes are in
// the order of the list, so one traversal finds all of them.
type jsonParts struct {
	list  string
	nodes []feed.Node
}

// part writes the extensions of element i of the list.
func (j *jsonWriter) part(p *jsonParts, i int) {
	for len(p.nodes) > 0 {
		n := &p.nodes[0]
		if n.Name == p.list && n.Space == "" && len(n.Attrs) == 1 && n.Attrs[0].Name == "index" {
			index, err := strconv.Atoi(n.Attrs[0].Value)
			if err == nil && index > i {
				return
			}
			if err == nil && index == i {
				j.members(n.Children, func(c *feed.Node) bool { return c.Name != "" && !knownInPart(c.Name) }, 0)
			}
		}
		p.nodes = p.nodes[1:]
	}
}

func knownInFeed(name string) bool {
	switch name {
	case "version", "title", "home_page_url", "feed_url", "description", "user_comment", "next_url", "icon", "favicon",
		"author", "authors", "language", "expired", "hubs", "items":
		return true
	}
	return false
}

func knownInItem(name string) bool {
	switch name {
	case "id", "url", "external_url", "title", "content_html", "content_text", "summary", "image", "banner_image",
		"date_published", "date_modified", "author", "authors", "tags", "language", "attachments":
		return true
	}
	return false
}

// knownInPart reports whether the format defines a name for authors, hubs or attachments.
func knownInPart(name string) bool {
	switch name {
	case "name", "url", "avatar", "type", "mime_type", "title", "size_in_bytes", "duration_in_seconds":
		return true
	}
	return false
}
