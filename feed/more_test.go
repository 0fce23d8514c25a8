package feed

import (
	"reflect"
	"testing"
)

func TestMoreIsEmptyOnlyIfNoFieldIsSet(t *testing.T) {
	t.Parallel()
	if !new(More).empty() {
		t.Error("the zero More is not empty")
	}
	for i := range reflect.TypeFor[More]().NumField() {
		m := new(More)
		v := reflect.ValueOf(m).Elem()
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		default: // the field is a Date or a Text: set the first field of that struct
			f.Field(0).SetString("a")
		}
		if m.empty() {
			t.Errorf("More with %s is empty", v.Type().Field(i).Name)
		}
	}
}
