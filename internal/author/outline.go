package author

import (
	"encoding/json"
	"slices"
	"strings"

	"cloudburst/internal/author/markup"
	"cloudburst/internal/fault"
)

// maxOutlineJSON is the maximum size of an outline with all attributes, in bytes of JSON.
const maxOutlineJSON = 4 << 20

// ParseOutline parses headlines from text, one per line. A line is a child of the nearest earlier
// line with less indentation. A tab counts as two spaces, and two spaces are one level. Lines
// without text are ignored. Levels beyond MaxDepth are flattened. fault.Invalid: the text has more
// than MaxNodes lines.
func ParseOutline(text string) ([]Node, error) {
	type open struct{ width, at int }
	var (
		flat  []Node
		depth []int
		stack []open
	)
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(markup.CleanText(text))
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimSpace(line)
		if words == "" {
			continue
		}
		if len(flat) == MaxNodes {
			return nil, fault.New(fault.Invalid, "The outline has more than %d headlines.", MaxNodes)
		}
		width := indent(line)
		for len(stack) > 0 && (stack[len(stack)-1].width >= width || len(stack) == MaxDepth) {
			stack = stack[:len(stack)-1]
		}
		flat, depth = append(flat, Node{Text: words}), append(depth, len(stack))
		stack = append(stack, open{width, len(flat) - 1})
	}
	nodes, _ := buildTree(flat, depth, 0)
	return nodes, nil
}

// indent returns the width of the leading white space of a line in spaces; a tab counts as two.
func indent(line string) int {
	width := 0
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 2 - width%2
		default:
			return width / 2
		}
	}
	return width / 2
}

// buildTree builds a tree from nodes and their depths. It stops at the first node with a depth less
// than at. taken is the number of nodes in the tree.
func buildTree(flat []Node, depth []int, at int) (nodes []Node, taken int) {
	for taken < len(flat) && depth[taken] >= at {
		n := flat[taken]
		taken++
		under, converted := buildTree(flat[taken:], depth[taken:], at+1)
		n.Nodes = under
		taken += converted
		nodes = append(nodes, n)
	}
	return nodes, taken
}

// WriteOutline writes headlines in the form of ParseOutline, with a tab for each level. It writes
// only texts; [RestoreAttributes] restores the other fields.
func WriteOutline(nodes []Node) string {
	var b strings.Builder
	writeOutline(&b, nodes, 0)
	return b.String()
}

func writeOutline(b *strings.Builder, nodes []Node, depth int) {
	for i := range nodes {
		for range depth {
			b.WriteByte('\t')
		}
		b.WriteString(headline(&nodes[i]))
		b.WriteByte('\n')
		writeOutline(b, nodes[i].Nodes, depth+1)
	}
}

// headline returns a node as one line, which is never empty.
func headline(n *Node) string {
	s := strings.Join(strings.Fields(markup.CleanText(n.Title+" "+n.Text)), " ")
	if s == "" {
		s = n.Link
	}
	if s == "" && len(n.Enclosures) > 0 {
		s = n.Enclosures[0].URL
	}
	if s == "" {
		s = "…"
	}
	return s
}

// RestoreAttributes copies fields from the headlines before an edit as text to the edited
// headlines. It pairs headlines with the same text in the same order. Between two pairs, it pairs
// headlines at the same position. It modifies and returns edited.
func RestoreAttributes(before, edited []Node) []Node {
	old, now := flatten(before, nil), flatten(edited, nil)
	from, to := 0, 0
	for _, m := range matches(old, now) {
		mergeRun(old[from:m[0]], now[to:m[1]])
		mergeNode(old[m[0]], now[m[1]], false)
		from, to = m[0]+1, m[1]+1
	}
	mergeRun(old[from:], now[to:])
	return edited
}

// mergeRun pairs headlines by position if the edit did not change their number.
func mergeRun(old, now []*Node) {
	if len(old) != len(now) {
		return
	}
	for i := range now {
		mergeNode(old[i], now[i], true)
	}
}

// mergeNode copies all fields of old except the children to now. If the text was edited, now keeps
// its own text.
func mergeNode(old, now *Node, edited bool) {
	text, under := now.Text, now.Nodes
	*now = *old
	now.Nodes = under
	if edited {
		now.Text, now.Title = text, ""
	}
}

func flatten(nodes []Node, to []*Node) []*Node {
	for i := range nodes {
		to = flatten(nodes[i].Nodes, append(to, &nodes[i]))
	}
	return to
}

// matches returns the longest sequence of pairs of headlines with equal texts in the same order. A
// pair has an index in old and an index in now.
func matches(old, now []*Node) (pairs [][2]int) {
	places := map[string][]int{}
	for i, n := range old {
		places[headline(n)] = append(places[headline(n)], i)
	}
	var tails []int // indexes, in the list all, of the ends of increasing runs, as in patience sorting
	var all []struct{ old, now, before int }
	for i, n := range now {
		for _, at := range slices.Backward(places[headline(n)]) {
			k, _ := slices.BinarySearchFunc(tails, at, func(t, at int) int { return all[t].old - at })
			before := -1
			if k > 0 {
				before = tails[k-1]
			}
			all = append(all, struct{ old, now, before int }{at, i, before})
			if k == len(tails) {
				tails = append(tails, 0)
			}
			tails[k] = len(all) - 1
			if len(all) > 20*MaxNodes { // limits the work for texts that occur many times
				break
			}
		}
	}
	if len(tails) == 0 {
		return nil
	}
	for at := tails[len(tails)-1]; at >= 0; at = all[at].before {
		pairs = append(pairs, [2]int{all[at].old, all[at].now})
	}
	slices.Reverse(pairs)
	return pairs
}

// ReadOutline parses headlines in their stored form: a JSON list of Node. fault.Invalid: the text
// is not a valid list or is too large.
func ReadOutline(text string) ([]Node, error) {
	if len(text) > maxOutlineJSON {
		return nil, fault.New(fault.Invalid, "The outline has %d bytes; at most %d are accepted.", len(text), maxOutlineJSON)
	}
	var nodes []Node
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &nodes); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The outline cannot be read: it is not a JSON list of headlines.")
	}
	return prune(nodes), nil
}

// prune removes headlines without content and children.
func prune(nodes []Node) []Node {
	var all []Node
	for _, n := range nodes {
		n.Text, n.Title = strings.TrimSpace(n.Text), strings.TrimSpace(n.Title)
		if n.Nodes = prune(n.Nodes); n.Text == "" && n.Title == "" && n.Link == "" && len(n.Enclosures) == 0 && len(n.Nodes) == 0 {
			continue
		}
		all = append(all, n)
	}
	return all
}
