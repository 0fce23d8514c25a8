package soap

import (
	"strings"

	"cloudburst/internal/xmlsafe"
)

// bind returns the parameters of a call in the order that the method declares, converted to the
// declared types.
func (m *Method) bind(c Call) []any {
	names := make([]string, len(m.Params))
	for i, d := range m.Params {
		names[i] = d.Name
	}
	args := c.Bind(names...)
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

// Bind returns the parameters in the order of names. A missing parameter is nil, a repeated
// parameter is a []any, and missing parameters at the end are omitted. Names are compared without
// case. If no name matches, Bind returns all parameters in their original order.
func (c Call) Bind(names ...string) []any {
	out := make([]any, len(names))
	last := -1
	for i, name := range names {
		var found []any
		for _, p := range c.Params {
			if strings.EqualFold(p.Name, name) {
				found = append(found, p.Value)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			out[i] = found[0]
		default:
			out[i] = found
		}
		last = i
	}
	if last >= 0 {
		return out[:last+1]
	}
	out = out[:0]
	for _, p := range c.Params {
		out = append(out, p.Value)
	}
	return out
}
