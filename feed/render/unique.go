package render

import (
	"slices"
	"strconv"
)

// unique is a set of names. A short set is searched linearly; a long set uses a map.
type unique struct {
	list []string
	set  map[string]struct{}
}

// fewNames is the maximum number of names in a set that is searched linearly.
const fewNames = 48

// add adds a name, and reports whether it is new.
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

// another returns a unique name that is derived from a duplicate, and adds it to the set.
func (u *unique) another(name string) string {
	for n := len(u.list); ; n++ {
		if s := name + "#" + strconv.Itoa(n); u.add(s) {
			return s
		}
	}
}
