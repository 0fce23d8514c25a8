package micropub

import (
	"slices"
)

// Properties are lists of values by property name.
type Properties map[string][]Value

// First returns the first value of a property, or the zero Value.
func (p Properties) First(name string) Value {
	if v := p[name]; len(v) > 0 {
		return v[0]
	}
	return Value{}
}

// Text returns the first value of a property as text, or "".
func (p Properties) Text(name string) string { return p.First(name).String() }

// Texts returns the values of a property as text, without empty ones.
func (p Properties) Texts(name string) []string {
	var list []string
	for _, v := range p[name] {
		if s := v.String(); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// Has reports whether a property has at least one value.
func (p Properties) Has(name string) bool { return len(p[name]) > 0 }

// Only returns the properties with the given names, or all properties if there are no
// names.
func (p Properties) Only(names ...string) Properties {
	if len(names) == 0 {
		return p
	}
	out := Properties{}
	for name, values := range p {
		if slices.Contains(names, name) {
			out[name] = values
		}
	}
	return out
}
