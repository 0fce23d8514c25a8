package feed

// looksLikeHTML says whether s, a text of a format that does not say what it is, is
// HTML rather than plain text.
func looksLikeHTML(s string) bool { return false }

// resolveHTML gives s with the relative references in it made absolute.
func resolveHTML(s string, b *base) string { return s }
