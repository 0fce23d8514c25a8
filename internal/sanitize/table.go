package sanitize

// nameTable finds what a short name stands for, quicker than a map does.
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

// add enters a name. The table must keep room: names are entered when the program
// begins, and never end up in a full one.
func (t *nameTable[T]) add(name string, is T) {
	at := slot(name)
	for t.rows[at].name != "" {
		at++
	}
	t.rows[at].name, t.rows[at].is = name, is
	t.n++
}

// of gives what name stands for; nil for nothing.
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
