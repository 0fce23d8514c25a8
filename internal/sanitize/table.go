package sanitize

// nameTable maps short names to values, faster than a map.
type nameTable[T any] struct {
	n    int
	rows [256]struct {
		name string
		is   T
	}
}

func slot(name string) uint8 {
	n := len(name)
	return name[0]*7 ^ name[n-1]*29 ^ name[n>>1]*3 ^ uint8(n)<<4
}

// add adds a name. It runs only at program start. A table must have fewer than 256 names, because a
// search in a full table does not end.
func (t *nameTable[T]) add(name string, is T) {
	at := slot(name)
	for t.rows[at].name != "" {
		at++
	}
	t.rows[at].name, t.rows[at].is = name, is
	t.n++
}

// get returns a pointer to the value of name, nil if there is none.
func (t *nameTable[T]) get(name string) *T {
	if name == "" {
		return nil
	}
	at := slot(name)
	for {
		row := &t.rows[at]
		if row.name == name {
			return &row.is
		}
		if row.name == "" {
			return nil
		}
		at++
	}
}
