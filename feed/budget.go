package feed

import (
	"slices"
	"strconv"
	"unsafe"
)

// A few bytes of a document can mean many in memory: an empty element is a struct, a
// relative reference gets the base in front of it, every text has the language of the
// whole. So what a feed may become is bounded by what it was. Real feeds take less than
// their own length.
const (
	budgetFactor = 8
	budgetBase   = 1 << 20
)

// budget is how many bytes the lists, bases and addresses of a feed may still take.
type budget struct {
	left int
	over bool
}

// take is false when there is not enough left; then there is nothing left.
func (b *budget) take(n int) bool {
	if b.over || n > b.left {
		b.over = true
		return false
	}
	b.left -= max(n, 0)
	return true
}

// kept is append for a list that a document can make as long as it likes.
func kept[T any](b *budget, list []T, v T) []T {
	if !b.take(int(unsafe.Sizeof(v))) {
		return list
	}
	return grown(list, v)
}

// grown is append that moves long lists less often.
func grown[T any](list []T, v T) []T {
	if n := len(list); n == cap(list) && n > 100 {
		list = slices.Grow(list, n)
	}
	return append(list, v)
}

// within sets the budget of a document of n bytes.
func (p *parser) within(n int) {
	p.budget = budget{left: budgetFactor*n + budgetBase}
	for _, b := range [...]**budget{&p.links.budget, &p.people.budget, &p.subjects.budget, &p.files.budget, &p.texts.budget} {
		*b = &p.budget
	}
}

// full reports whether a list has as many as are kept, and that the rest is left out: what
// names the things in it.
func (p *parser) full(n, most int, what string) bool {
	if n < most {
		return false
	}
	if !slices.Contains(p.overfull, what) {
		p.overfull = append(p.overfull, what)
		at := 0
		if p.r != nil {
			at = p.r.Offset()
		}
		p.problem(ProblemLimit, at, "There are more than "+strconv.Itoa(most)+" "+what+" in one place; the rest is left out.")
	}
	return true
}

// overBudget reports content that is left out because the budget is used up.
func (p *parser) overBudget() {
	if p.budget.over {
		p.problemAt(ProblemLimit, 0, "", "What stands in the document would become more than "+strconv.Itoa(budgetFactor)+
			" times as long as it is: some lists are cut short, some addresses are as they were written.")
	}
}
