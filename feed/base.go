package feed

import (
	"cloudburst/internal/href"
)

// openBase is a base URL that applies inside the element at a depth.
type openBase struct {
	depth int
	base  *href.Base
}

// setBase sets the base URL of the current element to ref.
func (p *parser) setBase(ref string) {
	if p.budget.over {
		return
	}
	if b := p.base().Child(ref); p.budget.take(len(b.String())) {
		p.bases = append(p.bases, openBase{p.r.Depth(), b})
	}
}

// base returns the base URL of relative references in the current element.
func (p *parser) base() *href.Base {
	if n := len(p.bases); n > 0 {
		return p.bases[n-1].base
	}
	return p.root
}
