package feed

import (
	"reflect"
	"strings"
)

// Clone gives a copy that shares no memory with the document that f was read from,
// nor with f. Keep the copy of an item, not the item, where one title should not keep
// megabytes alive.
func (f *Feed) Clone() *Feed {
	c := new(Feed)
	clone(reflect.ValueOf(c).Elem(), reflect.ValueOf(f).Elem())
	return c
}

// Clone is like that of a [Feed].
func (it *Item) Clone() *Item {
	c := new(Item)
	clone(reflect.ValueOf(c).Elem(), reflect.ValueOf(it).Elem())
	return c
}

// clone copies from into to, which is zero. There are no maps, interfaces and cycles
// in a feed; times are values.
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
