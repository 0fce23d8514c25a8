package locale

// Text is a text of the code with arguments. Its key is the English format of package fmt; the
// catalogue of another language has the same verbs. The zero value is the empty text.
type Text struct {
	Key  string
	Args []any
	one  string // English format for the number 1; "": the same format as for other numbers
}

// Quantity returns the text of a number with its noun: "1 feed", "1,204 feeds". The key of the text
// is the format many, such as "%d feeds".
func Quantity[N int | int64](n N, one, many string) Text {
	t := Text{Key: "%d " + many, Args: []any{n}}
	if n == 1 {
		t.one = "%d " + one
	}
	return t
}

// In returns the text in a language. A nil locale is English.
func (t Text) In(l *Locale) string {
	l = Of(l)
	if t.one != "" && l.IsEnglish() {
		return l.Say(t.one, t.Args...)
	}
	return l.Say(t.Key, t.Args...)
}

// String returns the text in English.
func (t Text) String() string { return t.In(nil) }
