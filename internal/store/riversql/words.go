package riversql

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// Words is the search syntax of a database. This package splits texts into words, so that both
// databases find the same items.
type Words int

const (
	FTS5     Words = iota // SQLite
	TSVector              // PostgreSQL
)

const (
	maxWordLen = 64   // bytes; the rest is ignored
	maxWords   = 4096 // per item
	maxSought  = 64   // words per search

	minPrefix = 3 // letters; a shorter prefix matches half of all words

	firstAlone = 0x0e00 // first letter of Thai; from here on, scripts without spaces between words
)

// splitWords calls word for each word of a text, in lowercase and without accents, until it returns
// false. Scripts without spaces between words have one word per letter, so that a word of theirs is
// searched for as a phrase.
func splitWords(text string, word func(w string, alone bool) bool) {
	var b []byte
	flush := func() bool {
		if len(b) == 0 {
			return true
		}
		w := string(b)
		b = b[:0]
		return word(w, false)
	}
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
		switch {
		case r < utf8.RuneSelf: // the common case
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				if len(b) < maxWordLen {
					b = append(b, byte(r))
				}
			} else if !flush() {
				return
			}
		case unicode.Is(unicode.Mn, r):
		case r >= firstAlone && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
			if !flush() || !word(string(r), true) {
				return
			}
		case unicode.IsLetter(r), unicode.IsNumber(r):
			if r = unicode.ToLower(r); len(b)+utf8.RuneLen(r) <= maxWordLen {
				b = utf8.AppendRune(b, r)
			}
		default:
			if !flush() {
				return
			}
		}
	}
	flush()
}

// sourceWord returns a word for a source that users cannot type. It finds the few items of one
// source among many.
func sourceWord(id int64) string { return "\uE000" + strconv.FormatInt(id, 16) }

// separator separates the title from the text, so that no phrase spans both.
const separator = "\uE001"

// texts returns the searchable texts of an item: its title and the rest.
func texts(it *river.Item) (title string, rest []string) {
	rest = append(rest, it.Text)
	rest = append(rest, it.Authors...)
	rest = append(rest, it.Categories...)
	for i := range it.Enclosures {
		rest = append(rest, it.Enclosures[i].Title)
	}
	var nested func(list []river.Content, depth int)
	nested = func(list []river.Content, depth int) {
		for i := range list {
			rest = append(rest, list[i].Title, list[i].Text)
			if depth < 8 {
				nested(list[i].Nested, depth+1)
			}
		}
	}
	nested(it.Nested, 0)
	return it.Title, rest
}

// document returns the content of the search table for an item.
func (d Words) document(it *river.Item) string {
	title, rest := texts(it)
	list := []string{sourceWord(it.SourceID)}
	add := func(w string, _ bool) bool {
		list = append(list, w)
		return len(list) < maxWords
	}
	splitWords(title, add)
	body := len(list) + 1
	list = append(list, separator)
	for _, text := range rest {
		splitWords(text, add)
		list = append(list, separator)
	}
	if d == FTS5 {
		return strings.Join(list, " ")
	}
	return tsvector(list, body)
}

// tsvector returns a list of words in PostgreSQL's format. The words before index body are the
// title.
func tsvector(list []string, body int) string {
	at := map[string][]int{}
	for i, w := range list {
		if w != separator && len(at[w]) < 200 { // PostgreSQL stores at most 255
			at[w] = append(at[w], i+1)
		}
	}
	var b strings.Builder
	for i, w := range list {
		if w == separator || at[w] == nil || at[w][0] != i+1 {
			continue
		}
		b.WriteString("'" + w + "':")
		for n, pos := range at[w] {
			if n > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(pos))
			if pos <= body {
				b.WriteByte('A')
			}
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// sought is a term of a search: consecutive words.
type sought struct {
	words []string
	open  bool // the last word may be a prefix
	not   bool
}

// readMatch parses river.ItemQuery.Match. It returns fault.Invalid if there is nothing to search
// for.
func readMatch(text string) ([]sought, error) {
	if len(text) > sqldb.MaxMatch {
		return nil, fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(text), sqldb.MaxMatch)
	}
	var terms []sought
	found, all := false, 0
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		var t sought
		if rest := strings.TrimPrefix(text, "-"); rest != text && rest != "" && !strings.HasPrefix(rest, "-") {
			text, t.not = rest, true
		}
		var word string
		word, text, t.open = cutTerm(text)
		alone := false
		splitWords(word, func(w string, one bool) bool {
			t.words, alone = append(t.words, w), one
			return len(t.words) <= maxSought
		})
		if len(t.words) == 0 {
			continue
		}
		t.open = t.open && !t.not && strings.TrimSpace(text) == "" && !alone && utf8.RuneCountInString(t.words[len(t.words)-1]) >= minPrefix
		found = found || !t.not
		if all += len(t.words); all > maxSought {
			return nil, fault.New(fault.Invalid, "A search can have at most %d words: remove some.", maxSought)
		}
		terms = append(terms, t)
	}
	if !found {
		return nil, fault.New(fault.Invalid, "A search needs at least one word of letters or digits without a minus.")
	}
	return terms, nil
}

// cutTerm splits a word or a phrase off the start of a text.
func cutTerm(text string) (term, rest string, open bool) {
	const quotes = "\"“”„«»"
	if first, size := utf8.DecodeRuneInString(text); strings.ContainsRune(quotes, first) {
		text = text[size:]
		if end := strings.IndexAny(text, quotes); end >= 0 {
			_, size = utf8.DecodeRuneInString(text[end:])
			return text[:end], text[end+size:], false
		}
		return text, "", false
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(quotes, r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:], true
}

// query returns terms in the syntax of the database. An item must be of one of sources, if there
// are any. Words consist of letters and digits, so they contain no syntax; they are quoted anyway.
func (d Words) query(terms []sought, sources []int64) string {
	var yes, no, of []string
	for _, t := range terms {
		if t.not {
			no = append(no, d.term(t))
		} else {
			yes = append(yes, d.term(t))
		}
	}
	for _, id := range sources {
		of = append(of, d.term(sought{words: []string{sourceWord(id)}}))
	}
	and, or, not := " AND ", " OR ", " NOT "
	if d == TSVector {
		and, or, not = " & ", " | ", " & !"
	}
	if len(of) > 0 {
		yes = slices.Insert(yes, 0, "("+strings.Join(of, or)+")")
	}
	q := "(" + strings.Join(yes, and) + ")"
	for _, n := range no {
		q = "(" + q + not + n + ")"
	}
	return q
}

func (d Words) term(t sought) string {
	if d == FTS5 {
		q := `"` + strings.Join(t.words, " ") + `"`
		if t.open {
			q += " *"
		}
		return q
	}
	q := "'" + strings.Join(t.words, "' <-> '") + "'"
	if t.open {
		q += ":*"
	}
	return "(" + q + ")"
}
