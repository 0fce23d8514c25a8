package soap

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParamsAreConvertedToDeclaredTypes(t *testing.T) {
	t.Parallel()
	fields := Def{Fields: []Def{{Name: "n", Type: "int"}, {Name: "b", Type: "boolean"}}}
	for name, row := range map[string]struct {
		def      Def
		in, want any
	}{
		"nothing":                 {Def{Type: "int"}, nil, nil},
		"text":                    {Def{}, "a", "a"},
		"number for text":         {Def{Type: "string"}, int64(80), "80"},
		"text for number":         {Def{Type: "int"}, " 80 ", int64(80)},
		"other text for number":   {Def{Type: "int"}, "http", "http"},
		"number for number":       {Def{Type: "long"}, int64(80), int64(80)},
		"text for boolean":        {Def{Type: "boolean"}, "true", true},
		"number for boolean":      {Def{Type: "boolean"}, int64(1), true},
		"two for boolean":         {Def{Type: "boolean"}, int64(2), int64(2)},
		"text for date":           {Def{Type: "dateTime"}, "2003-07-17T12:00:00Z", time.Date(2003, 7, 17, 12, 0, 0, 0, time.UTC)},
		"list":                    {Def{Type: "string[]"}, []any{"a", int64(1)}, []any{"a", "1"}},
		"list of one":             {Def{Type: "int[]"}, "7", []any{int64(7)}},
		"list of one, typed":      {Def{Type: "int[]"}, int64(7), []any{int64(7)}},
		"list of none":            {Def{Type: "string[]"}, " ", []any{}},
		"list without types":      {Def{Type: "int[]"}, map[string]any{"item": []any{"1", "2"}}, []any{int64(1), int64(2)}},
		"list without types, one": {Def{Type: "int[]"}, map[string]any{"item": "1"}, []any{int64(1)}},
		"structure for list":      {Def{Type: "int[]"}, map[string]any{"a": "1", "b": "2"}, map[string]any{"a": "1", "b": "2"}},
		"structure":               {fields, map[string]any{"n": "1", "b": "0", "x": "y"}, map[string]any{"n": int64(1), "b": false, "x": "y"}},
		"text for structure":      {fields, "a", "a"},
	} {
		if diff := cmp.Diff(row.want, row.def.convert(row.in)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHandlerMethodsCanBeCalledWithoutHTTP(t *testing.T) {
	t.Parallel()
	h := server(t)
	got, err := h.Call(t.Context(), Call{Name: "echo", Params: []Param{{Name: "v", Value: "a"}}})
	if diff := cmp.Diff([]any{"a"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := h.Call(t.Context(), Call{Name: "secret"}); asFault(err) == nil {
		t.Errorf("got %v", err)
	}
	silent := &Handler{Service: Service{Methods: []Method{{Name: "a",
		Do: func(context.Context, []any) (any, error) { return nil, errors.New("x") }}}}}
	if _, err := silent.Call(t.Context(), Call{Name: "a"}); asFault(err) == nil {
		t.Errorf("without a log: got %v", err)
	}
}
