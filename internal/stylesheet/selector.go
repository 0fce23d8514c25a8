package stylesheet

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// selectors returns the selectors of a rule. Each selector is limited to the element of
// Options.Scope and its descendants.
func (p *confiner) selectors(line int, prelude []token) (string, error) {
	var all []string
	var one []token
	depth := 0
	for i := 0; i <= len(prelude); i++ {
		if i == len(prelude) || prelude[i].kind == css.CommaToken && depth == 0 {
			text, err := p.selector(line, trim(one))
			if err != nil {
				return "", err
			}
			if all, one = append(all, text), nil; len(all) > maxSelectors {
				return "", wrong(line, "a rule has at most %d selectors.", maxSelectors)
			}
			continue
		}
		t := prelude[i]
		switch t.kind {
		case css.FunctionToken, css.LeftParenthesisToken, css.LeftBracketToken:
			depth++
		case css.RightParenthesisToken, css.RightBracketToken:
			if depth--; depth < 0 {
				return "", wrong(t.line, "the selector closes %q, which is not open.", t.text)
			}
		}
		one = append(one, t)
	}
	if depth > 0 {
		return "", wrong(line, "the selector has a parenthesis that is not closed.")
	}
	return strings.Join(all, ","), nil
}

func trim(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].space() {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].space() {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// selector returns one selector, limited to the element of Options.Scope. The first element, and so
// all later elements, must be descendants of the Scope element. html, body and :root at the
// beginning mean the Scope element itself, and only its descendants may follow.
func (p *confiner) selector(line int, tokens []token) (string, error) {
	if len(tokens) == 0 {
		return "", wrong(line, "a selector is empty.")
	}
	var b strings.Builder
	for _, t := range tokens {
		if err := checkSelector(t); err != nil {
			return "", err
		}
		if t.space() {
			b.WriteByte(' ')
		} else {
			b.WriteString(t.text)
		}
	}
	if b.Len() > maxSelector {
		return "", wrong(line, "a selector has more than %d bytes.", maxSelector)
	}
	if isCombinator(tokens[0]) {
		return "", wrong(line, "a selector cannot begin with %q.", tokens[0].text)
	}
	roots := 0 // leading roots, as in html body or html > body: all mean the Scope element
	for {
		n := rootTokens(tokens)
		if n == 0 {
			break
		}
		roots++
		tokens = trim(tokens[n:])
		if len(tokens) > 0 && tokens[0].is(">") && rootTokens(trim(tokens[1:])) > 0 {
			tokens = trim(tokens[1:])
		}
	}
	if roots == 0 {
		return p.Scope + " " + b.String(), nil
	}
	b.Reset()
	for _, t := range tokens {
		if t.space() {
			b.WriteByte(' ')
		} else {
			b.WriteString(t.text)
		}
	}
	switch rest := b.String(); {
	case rest == "":
		return p.Scope, nil
	case tokens[0].is("+") || tokens[0].is("~") || tokens[0].is("|"):
		return "", wrong(line, "%q cannot follow html, body or :root.", tokens[0].text)
	case tokens[0].kind == css.ColonToken && !strings.Contains(rest, " ") && !strings.ContainsAny(rest, "+~>"):
		return p.Scope + rest, nil // the selector is like body::before
	case tokens[0].kind == css.ColonToken:
		return "", wrong(line, "html, body and :root can have a pseudo element only at the end of a selector.")
	default:
		return p.Scope + " " + rest, nil
	}
}

// rootTokens returns the number of tokens of a leading html, body or :root, 0 if there is none.
func rootTokens(tokens []token) int {
	switch {
	case len(tokens) > 0 && tokens[0].kind == css.IdentToken && (strings.EqualFold(tokens[0].text, "html") || strings.EqualFold(tokens[0].text, "body")):
		return 1
	case len(tokens) > 1 && tokens[0].kind == css.ColonToken && strings.EqualFold(tokens[1].text, "root"):
		return 2
	}
	return 0
}

func isCombinator(t token) bool {
	return t.is(">") || t.is("+") || t.is("~") || t.is("|") || t.is("||") || t.kind == css.ColumnToken
}

// pseudo lists the functions that selectors may contain.
var pseudo = []string{"is", "not", "where", "has", "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "lang", "dir", "highlight", "-webkit-any", "-moz-any"}

// checkSelector checks one token of a selector.
func checkSelector(t token) error {
	switch t.kind {
	case css.IdentToken, css.HashToken, css.WhitespaceToken, css.ColonToken, css.CommaToken, css.StringToken, css.NumberToken, css.DimensionToken, css.PercentageToken,
		css.LeftBracketToken, css.RightBracketToken, css.RightParenthesisToken, css.LeftParenthesisToken,
		css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken, css.SuffixMatchToken, css.SubstringMatchToken:
		if strings.Contains(strings.ToLower(t.text), "</style") {
			return wrong(t.line, "a selector cannot contain </style.")
		}
		return nil
	case css.FunctionToken:
		if slices.Contains(pseudo, strings.ToLower(strings.TrimSuffix(t.text, "("))) {
			return nil
		}
		return wrong(t.line, "the selector %s) is not allowed.", clip(t.text))
	case css.DelimToken:
		if strings.Contains(".*>+~=", t.text) {
			return nil
		}
	}
	return wrong(t.line, "%q does not belong into a selector.", clip(t.text))
}
