package feed

import (
	"reflect"
	"strings"
)

// Clone returns a deep copy that shares no memory with f or with the parsed document.
// Store clones of items: a single title of the original keeps the whole document in
// memory.
func (f *Feed) Clone() *Feed {
	c := new(Feed)
	clone(reflect.ValueOf(c).Elem(), reflect.ValueOf(f).Elem())
	return c
}

// Clone returns a deep copy of the item, see [Feed.Clone].
func (it *Item) Clone() *Item {
	c := new(Item)
	clone(reflect.ValueOf(c).Elem(), reflect.ValueOf(it).Elem())
	return c
}

// clone copies from into to, which must be zero. It handles all types that occur in a feed: there
// are no maps, interfaces or cycles, and times are copied as values.
func clone(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(strings.Clone(from.String()))
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			clone(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			clone(to.Index(i), from.Index(i))
		}
	case reflect.Struct:
		if from.Type() == reflect.TypeFor[Date]() {
			to.Field(0).SetString(strings.Clone(from.Field(0).String()))
			to.Field(1).Set(from.Field(1))
			return
		}
		for i := range from.NumField() {
			clone(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}
