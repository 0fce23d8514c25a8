package feed

import (
	"slices"
	"strconv"
	"unsafe"
)

// A short document can use much memory: an empty element becomes a struct, a relative reference
// includes its base URL, and each text has the language of the feed. Therefore the budget limits
// the size of a feed in proportion to the length of its document. Real feeds use less than this
// length.
const (
	budgetFactor = 8
	budgetBase   = 1 << 20
)

// budget counts the bytes that the lists, base URLs and references of a feed may still use.
type budget struct {
	left int
	over bool
}

// take subtracts n bytes from the budget. Once the budget is used up, take returns false for this
// and all later calls.
func (b *budget) take(n int) bool {
	if b.over || n > b.left {
		b.over = true
		return false
	}
	b.left -= max(n, 0)
	return true
}

// appendBudgeted is like append for a list whose length depends on the document. It subtracts the
// elements from the budget.
func appendBudgeted[T any](b *budget, list []T, v T) []T {
	if !b.take(int(unsafe.Sizeof(v))) {
		return list
	}
	return appendDoubling(list, v)
}

// appendDoubling is like append, but doubles the capacity of long lists, so that they are copied
// less often.
func appendDoubling[T any](list []T, v T) []T {
	if n := len(list); n == cap(list) && n > 100 {
		list = slices.Grow(list, n)
	}
	return append(list, v)
}

// within sets the budget for a document of n bytes.
func (p *parser) within(n int) {
	p.budget = budget{left: budgetFactor*n + budgetBase}
	for _, b := range [...]**budget{&p.links.budget, &p.people.budget, &p.subjects.budget, &p.files.budget, &p.texts.budget} {
		*b = &p.budget
	}
}

// full reports whether a list of n elements has reached limit. The first time it also reports a
// problem, in which what names the elements.
func (p *parser) full(n, limit int, what string) bool {
	if n < limit {
		return false
	}
	if !slices.Contains(p.fullLists, what) {
		p.fullLists = append(p.fullLists, what)
		at := 0
		if p.r != nil {
			at = p.r.Offset()
		}
		p.problem(ProblemLimit, at, "There are more than "+strconv.Itoa(limit)+" "+what+" in one place; the rest is left out.")
	}
	return true
}

// overBudget reports content that is left out because the budget is used up.
func (p *parser) overBudget() {
	if p.budget.over {
		p.problemAt(ProblemLimit, 0, "", "The feed would be more than "+strconv.Itoa(budgetFactor)+
			" times as long as the document: some lists are shortened, and some URLs are not resolved.")
	}
}
