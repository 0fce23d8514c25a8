package render

import (
	"strings"
	"unicode/utf8"
)

// The formats for other programming languages contain the feed as data: maps, lists, texts,
// numbers and flags. docs/reference/feed-data.md documents the members; datafeed.go and dataitem.go
// build them from a feed. All keys are fixed names: the author of a feed cannot choose a key.

// kind is the type of a datum.
type kind uint8

const (
	kindText kind = iota
	kindInt
	kindFloat
	kindTrue // members with the value false are omitted
	kindList
	kindMap
)

// datum is a value, or a list or map whose members follow it.
type datum struct {
	kind kind
	key  string // key of this member in the map
	text string
	n    int64 // value of an int, or number of members of a list or map
	real float64
}

// dataDepth is the maximum nesting of lists and maps. Interpreters support somewhat less than a
// hundred nested brackets; real feeds use five.
const dataDepth = 60

// deepestItems is the maximum nesting of items in the other formats.
const deepestItems = 500

// tree is the data of a feed. Each list or map precedes its members.
type tree struct {
	w    *writer
	data []datum
	open []int // indices of the lists and maps that are not finished
	few  [dataDepth + 1]int
}

// data builds the tree of the feed.
func (w *writer) data() []datum {
	t := &tree{w: w, data: make([]datum, 0, 48+24*len(w.f.Items))}
	t.open = t.few[:0]
	t.add(datum{kind: kindMap})
	t.open = append(t.open, 0)
	t.feed(w.f)
	return t.data
}

func (t *tree) add(d datum) {
	if n := len(t.open); n > 0 {
		t.data[t.open[n-1]].n++
	}
	t.data = append(t.data, d)
}

// put adds a text, even if it is empty.
func (t *tree) put(key, s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
		t.w.warnCharacters(key)
	}
	t.add(datum{kind: kindText, key: key, text: s})
}

// some adds a text unless it is empty.
func (t *tree) some(key, s string) {
	if s != "" {
		t.put(key, s)
	}
}

func (t *tree) int(key string, n int64) { t.add(datum{kind: kindInt, key: key, n: n}) }

// count adds a number unless it is 0.
func (t *tree) count(key string, n int64) {
	if n > 0 {
		t.int(key, n)
	}
}

// float adds a number unless it is infinite or NaN.
func (t *tree) float(key string, x float64) {
	if x-x == 0 { // neither infinite nor NaN
		t.add(datum{kind: kindFloat, key: key, real: x})
	}
}

func (t *tree) flag(key string, is bool) {
	if is {
		t.add(datum{kind: kindTrue, key: key})
	}
}

// list begins a list. end finishes the list, or removes it if it is empty.
func (t *tree) list(key string) { t.begin(datum{kind: kindList, key: key}) }

// object begins a map. end finishes the map, or removes it if it is empty.
func (t *tree) object(key string) { t.begin(datum{kind: kindMap, key: key}) }

func (t *tree) begin(d datum) {
	t.add(d)
	t.open = append(t.open, len(t.data)-1)
}

func (t *tree) end() {
	n := len(t.open) - 1
	if t.data[t.open[n]].n == 0 {
		t.data = t.data[:t.open[n]]
		t.data[t.open[n-1]].n--
	}
	t.open = t.open[:n]
}

// maps adds a list of maps, unless it is empty.
func maps[T any](t *tree, key string, list []T, members func(*T)) {
	if len(list) == 0 {
		return
	}
	t.list(key)
	for i := range list {
		t.object("")
		members(&list[i])
		t.end()
	}
	t.end()
}

// canNest reports whether another list of maps is within the limit of nesting. If not, it adds a
// warning.
func (t *tree) canNest(key string) bool {
	if len(t.open)+8 <= dataDepth { // 8 levels are enough for the list, its maps, and their members
		return true
	}
	t.w.warn("depth", key, "This is nested deeper than programs can read; the nested content is omitted.")
	return false
}

// texts adds a list of texts without the empty ones.
func (t *tree) texts(key string, list []string) {
	if len(list) == 0 {
		return
	}
	t.list(key)
	for _, s := range list {
		t.some("", s)
	}
	t.end()
}
