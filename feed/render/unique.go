package render

import (
	"slices"
	"strconv"
)

// unique are names that were given, each once. Few are compared with each other, many
// are looked up.
type unique struct {
	list []string
	set  map[string]struct{}
}

// fewNames is how many names are compared with each other.
const fewNames = 48

// add gives a name, and reports whether it had not been given before.
func (u *unique) add(name string) bool {
	if u.has(name) {
		return false
	}
	if u.list = append(u.list, name); u.set != nil {
		u.set[name] = struct{}{}
	} else if len(u.list) > fewNames {
		u.set = make(map[string]struct{}, 2*cap(u.list))
		for _, n := range u.list {
			u.set[n] = struct{}{}
		}
	}
	return true
}

func (u *unique) has(name string) bool {
	if u.set != nil {
		_, ok := u.set[name]
		return ok
	}
	return slices.Contains(u.list, name)
}

// another gives a name like one that was given before.
func (u *unique) another(name string) string {
	for n := len(u.list); ; n++ {
		if s := name + "#" + strconv.Itoa(n); u.add(s) {
			return s
		}
	}
}
