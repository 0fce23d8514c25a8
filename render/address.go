package render

import "cloudburst/internal/href"

// address is a reference as RSS has it: whole, and of ASCII. One that is not whole
// stands on the address of the feed or of its page; "" is for what cannot be one, with a
// warning.
func (w *writer) address(s, where string) string {
	if s != "" && schemeLen(s) == 0 {
		if base := w.base(); base != "" {
			s = href.New(base).Resolve(s)
		}
	}
	return w.uri(s, where)
}

// base is what relative references of the feed stand on, "" where nobody knows.
func (w *writer) base() string {
	for _, b := range [...]string{w.f.Base, w.f.Self, w.o.Self, w.f.Link} {
		if schemeLen(b) > 0 {
			return b
		}
	}
	return ""
}

// quietly is address without a warning, for what is looked at more than once.
func (w *writer) quietly(s string) string {
	told, untold := len(w.warnings), w.untold
	s = w.address(s, "")
	w.warnings, w.untold = w.warnings[:told], untold
	return s
}
