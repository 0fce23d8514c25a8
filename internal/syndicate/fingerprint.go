package syndicate

import (
	"hash/maphash"
	"math"
	"reflect"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// fingerprints has hashes of the content of a feed, and the approximate size of the feed in memory.
type fingerprints struct {
	items []uint64
	head  uint64 // hash of the feed without its items, and without dates, which change even if nothing else changes; for a document that is not a feed, hash of all bytes
	size  int64
}

func (l *Layer) fingerprintsOf(f *feed.Feed, raw []byte) fingerprints {
	// The memory contains the text twice: as received, and as UTF-8.
	p := fingerprints{size: int64(2*len(raw)) + overheadBytes}
	if f == nil {
		p.head = maphash.Bytes(l.seed, raw)
		return p
	}
	for i := range f.Items {
		h := fieldHasher{}
		h.SetSeed(l.seed)
		h.value(reflect.ValueOf(&f.Items[i]).Elem())
		p.items = append(p.items, h.Sum64())
		p.size += h.size
	}
	p.size += int64(len(p.items)*8 + cap(f.Items)*int(reflect.TypeFor[feed.Item]().Size()))
	head := *f
	head.Items, head.Problems, head.Published, head.Updated, head.Created = nil, nil, feed.Date{}, feed.Date{}, feed.Date{}
	h := fieldHasher{}
	h.SetSeed(l.seed)
	h.value(reflect.ValueOf(&head).Elem())
	p.head = h.Sum64()
	p.size += h.size + int64(len(f.Problems)*128)
	return p
}

const overheadBytes = 2048 // estimated bytes of values that are too small to count one by one

// fieldHasher hashes all fields of a value. Feeds contain no maps, interfaces or cycles.
type fieldHasher struct {
	maphash.Hash
	size int64 // bytes that the value refers to, without texts, which the size of the document includes
}

func (p *fieldHasher) number(n uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	_, _ = p.Write(b[:])
}

func (p *fieldHasher) text(s string) {
	p.number(uint64(len(s)))
	_, _ = p.WriteString(s)
}

func (p *fieldHasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		p.text(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			p.number(0)
			return
		}
		p.number(1)
		p.size += int64(v.Type().Elem().Size())
		p.value(v.Elem())
	case reflect.Slice:
		p.number(uint64(v.Len()))
		p.size += int64(v.Cap()) * int64(v.Type().Elem().Size())
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[feed.Date]() {
			p.text(v.Field(0).String()) // a date is hashed by its text, because the time depends only on the text
			return
		}
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	case reflect.Bool:
		if v.Bool() {
			p.number(1)
		} else {
			p.number(0)
		}
	case reflect.Int, reflect.Int64:
		p.number(uint64(v.Int()))
	case reflect.Float64:
		p.number(math.Float64bits(v.Float()))
	default:
		panic("syndicate: a feed holds a " + v.Kind().String())
	}
}

// variantOf returns a hash of the render options and links of a document. It runs for each request,
// so it must not allocate memory.
func (l *Layer) variantOf(s *Source, format string) uint64 {
	var p fieldHasher
	p.SetSeed(l.seed)
	if s.Link != nil {
		p.list(s.Link(format))
	}
	if s.Render != nil {
		o := s.Render(format)
		p.options(&o)
	}
	return p.Sum64()
}

func (p *fieldHasher) list(list []string) {
	p.number(uint64(len(list)))
	for _, s := range list {
		p.text(s)
	}
}

func (p *fieldHasher) options(o *render.Options) {
	p.text(o.Self)
	p.text(o.Callback)
	p.list(o.Hubs)
	if c := o.Cloud; c != nil {
		p.number(1)
		p.text(c.Domain)
		p.text(c.Port)
		p.text(c.Path)
		p.text(c.RegisterProcedure)
		p.text(c.Protocol)
	}
	p.number(uint64(len(o.Alternates)))
	for i := range o.Alternates {
		a := &o.Alternates[i]
		p.text(a.Rel)
		p.text(a.Href)
		p.text(a.Type)
		p.text(a.Title)
		p.text(a.Language)
		p.text(a.Length)
		p.text(a.Count)
		p.text(a.Updated)
	}
	if g := o.Generator; g != nil {
		p.number(1)
		p.text(g.Name)
		p.text(g.URL)
		p.text(g.Version)
	}
}
