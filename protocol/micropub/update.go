package micropub

import (
	"slices"
)

// Apply returns a copy of p with the changes of an update. Values that are [Value.Equal] to
// a value of Remove are removed. A property without values is removed.
//
// spec:micropub-2017#update-replace
// spec:micropub-2017#update-add
// spec:micropub-2017#update-remove
func (r *Request) Apply(p Properties) Properties {
	out := Properties{}
	for name, values := range p {
		out[name] = slices.Clone(values)
	}
	for name, values := range r.Replace {
		out[name] = slices.Clone(values)
	}
	for name, values := range r.Remove {
		out[name] = slices.DeleteFunc(out[name], func(v Value) bool { return slices.ContainsFunc(values, v.Equal) })
	}
	for name, values := range r.Add {
		out[name] = append(out[name], values...)
	}
	for _, name := range r.RemoveAll {
		delete(out, name)
	}
	for name, values := range out {
		if len(values) == 0 {
			delete(out, name)
		}
	}
	return out
}

// Touches reports whether an update changes a property.
func (r *Request) Touches(name string) bool {
	_, a := r.Replace[name]
	_, b := r.Add[name]
	_, c := r.Remove[name]
	return a || b || c || slices.Contains(r.RemoveAll, name)
}
