package render

import (
	"strings"
	"unicode/utf8"
)

// Programs in other languages get the feed as data: maps, lists, texts, numbers and
// flags. docs/feed-data.md tells authors of scripts what is in it; datafeed.go and
// dataitem.go make it of a feed. Every name in it is one of ours, never the feed's: no
// author decides what the keys of somebody's map are.

// kind is what a datum is.
type kind uint8

const (
	kindText kind = iota
	kindInt
	kindFloat
	kindTrue // what is not so is left out
	kindList
	kindMap
)

// datum is a value, or a list or map whose members stand behind it.
type datum struct {
	kind kind
	key  string // in a map
	text string
	n    int64 // of an int; of a list or map: how many members
	real float64
}

// dataDepth is how many lists and maps may be within each other. Interpreters read
// sources with less than a hundred brackets within each other; what feeds have is five.
const dataDepth = 60

// deepestItems is how many items within each other other formats have.
const deepestItems = 500

// tree is the data of a feed, each value before what is in it.
type tree struct {
	w    *writer
	data []datum
	open []int // indices of the lists and maps that are not complete
	few  [dataDepth + 1]int
}

// data makes the tree of the feed.
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

// put writes a text, if it is empty too.
func (t *tree) put(key, s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
		t.w.warnCharacters(key)
	}
	t.add(datum{kind: kindText, key: key, text: s})
}

// some writes a text unless it is empty.
func (t *tree) some(key, s string) {
	if s != "" {
		t.put(key, s)
	}
}

func (t *tree) int(key string, n int64) { t.add(datum{kind: kindInt, key: key, n: n}) }

// count writes a number of things, if there is any.
func (t *tree) count(key string, n int64) {
	if n > 0 {
		t.int(key, n)
	}
}

// float writes a number, unless it is none.
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

// list begins a list; end ends it, or takes it back when nothing came into it.
func (t *tree) list(key string) { t.begin(datum{kind: kindList, key: key}) }

// object begins a map, which ends as a list does.
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

// room reports whether a list of maps fits into where the tree is, and warns if not.
func (t *tree) room(key string) bool {
	if len(t.open)+8 <= dataDepth { // the list, its maps, and what stands in those
		return true
	}
	t.w.warn("depth", key, "This is nested deeper than programs can read; what is within is left out.")
	return false
}

// texts writes a list of texts, without those that are empty.
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
