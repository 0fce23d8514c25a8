package soap

import (
	"slices"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// bind returns the parameters of a call in the order that the method declares, converted to the
// declared types.
func (m *Method) bind(c Call) []any {
	names, optional := make([]string, len(m.Params)), make([]bool, len(m.Params))
	for i, d := range m.Params {
		names[i], optional[i] = d.Name, d.Optional
	}
	args := c.bind(names, optional)
	for i := range args {
		if i < len(m.Params) {
			args[i] = m.Params[i].convert(args[i])
		}
	}
	return args
}

// convert converts a value to the declared type. A value that cannot be converted is
// returned unchanged, so the method can report it.
func (d Def) convert(v any) any {
	if v == nil {
		return nil
	}
	if len(d.Fields) > 0 {
		return d.convertFields(v)
	}
	item, list := strings.CutSuffix(d.Type, "[]")
	if !list {
		return convertScalar(item, v)
	}
	var all []any
	switch v := v.(type) {
	case []any:
		all = v
	case map[string]any:
		if all = items(v); all == nil {
			return v
		}
	case string:
		if xmlsafe.Trim(v) != "" {
			all = []any{v}
		}
	default:
		all = []any{v}
	}
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = convertScalar(item, one)
	}
	return out
}

func (d Def) convertFields(v any) any {
	given, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(given))
	for name, one := range given {
		for _, f := range d.Fields {
			if f.Name == name {
				one = f.convert(one)
			}
		}
		out[name] = one
	}
	return out
}

func convertScalar(typ string, v any) any {
	switch s, isString := v.(string); {
	case typ == "" || isSimple(typ) && (typ == "string" || typ == "anyURI"):
		if text, ok := String(v); ok {
			return text
		}
	case isString && isSimple(typ):
		if value, err := scalar(&xmlsafe.Node{Text: s}, typ); err == nil {
			return value
		}
	case typ == "boolean":
		if b, ok := Bool(v); ok {
			return b
		}
	}
	return v
}

// result returns the named result with its fields in the declared order.
func (m *Method) result(v any) Param {
	d := m.Result
	p := Param{Name: d.Name, Value: v}
	if p.Name == "" {
		p.Name = "return"
	}
	if len(d.Fields) == 0 && !strings.HasSuffix(d.Type, "[]") {
		p.Type = d.Type
	}
	if given, ok := v.(map[string]any); ok && len(d.Fields) > 0 {
		p.Value = d.order(given)
	}
	return p
}

// order returns the declared fields in the order of the schema, followed by the others.
func (d Def) order(given map[string]any) []Param {
	var fields []Param
	declared := map[string]bool{}
	for _, f := range d.Fields {
		if v, ok := given[f.Name]; ok && !declared[f.Name] {
			fields = append(fields, Param{Name: f.Name, Value: v, Type: f.Type})
			declared[f.Name] = true
		}
	}
	for _, p := range members(given) {
		if !declared[p.Name] {
			fields = append(fields, p)
		}
	}
	return fields
}

// Bind returns the parameters in the order of names. Names are compared without case, and a repeated
// parameter is a []any. Parameters with other names fill the positions without a value, in the order
// of the call, because programs choose their own names where a specification only defines an order.
// More parameters than positions are dropped. A missing parameter is nil, and missing parameters at
// the end are omitted. If no name matches, Bind returns all parameters in their original order.
func (c Call) Bind(names ...string) []any { return c.bind(names, nil) }

// bind is Bind with positions that only the parameter of that name fills.
func (c Call) bind(names []string, optional []bool) []any {
	out := make([]any, len(names))
	filled := make([]bool, len(names))
	var others [][]any
	for _, values := range c.grouped() {
		i := slices.IndexFunc(names, func(name string) bool { return strings.ToLower(name) == values.name })
		if i < 0 {
			others = append(others, values.list)
			continue
		}
		out[i], filled[i] = valueOf(values.list), true
	}
	if !slices.Contains(filled, true) {
		out = out[:0]
		for _, p := range c.Params {
			out = append(out, p.Value)
		}
		return out
	}
	for i := range out {
		if !filled[i] && len(others) > 0 && (optional == nil || !optional[i]) {
			out[i], filled[i], others = valueOf(others[0]), true, others[1:]
		}
	}
	for len(out) > 0 && !filled[len(out)-1] {
		out = out[:len(out)-1]
	}
	return out
}

// namedValues are the values of all parameters with one name.
type namedValues struct {
	name string // in lowercase
	list []any
}

// grouped returns the values of each name, in the order in which the names first occur.
func (c Call) grouped() []namedValues {
	var all []namedValues
	at := map[string]int{} // key: name in lowercase; value: index in all
	for _, p := range c.Params {
		name := strings.ToLower(p.Name)
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name], all = i, append(all, namedValues{name: name})
		}
		all[i].list = append(all[i].list, p.Value)
	}
	return all
}

// valueOf returns a single value as it is, and several values as a list.
func valueOf(list []any) any {
	if len(list) == 1 {
		return list[0]
	}
	return list
}
