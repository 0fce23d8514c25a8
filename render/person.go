package render

import "cloudburst/feed"

// appendMail writes somebody with an address as RSS has it: mail (name).
//
// spec:rss20-2003#author
func appendMail(b []byte, who *feed.Person) []byte {
	b = append(b, who.Email...)
	if who.Name != "" {
		b = append(append(append(b, " ("...), who.Name...), ')')
	}
	return b
}

// nameOf is what to call somebody where there is one word for it.
func nameOf(who *feed.Person) string {
	switch {
	case who.Name != "":
		return who.Name
	case who.Email != "":
		return who.Email
	case who.Raw != "":
		return who.Raw
	}
	return who.URL
}
