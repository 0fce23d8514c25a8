package stylesheet

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// refused are properties that run programs, or undo the limits of the page around the author's
// element.
var refused = []string{"behavior", "-moz-binding", "contain", "content-visibility", "view-transition-name", "src", "overlay"}

// checkProperty checks the name of a property.
func checkProperty(t token) error {
	name := strings.ToLower(t.text)
	switch {
	case strings.Contains(name, `\`):
		return wrong(t.line, "%s: a property cannot be written with a backslash.", clip(t.text))
	case slices.Contains(refused, name):
		return wrong(t.line, "%s: this property is not allowed.", name)
	}
	return nil
}

// checkPosition rejects values, such as position: fixed, that keep an element in the window while
// the page scrolls. Such an element could cover the footer of the page.
func checkPosition(property string, line int, value string) error {
	if property != "position" && property != "all" {
		return nil
	}
	word := strings.ToLower(strings.TrimSpace(strings.TrimSuffix(strings.ReplaceAll(value, " ", ""), "!important")))
	allowed := []string{"static", "relative", "absolute", "sticky", "inherit", "initial", "unset", "revert", "revert-layer"}
	if !slices.Contains(allowed, word) {
		return wrong(line, "%s: %s is not allowed, because it can cover the footer of the page; use static, relative, absolute or sticky.", property, clip(value))
	}
	return nil
}

// functions are the functions that a value may use. None of these functions loads a resource.
var functions = strings.Fields(`rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix color-contrast light-dark contrast-color
	var env calc calc-size min max clamp abs sign mod rem round sin cos tan asin acos atan atan2 pow sqrt hypot log exp
	linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient repeating-conic-gradient
	translate translatex translatey translatez translate3d rotate rotatex rotatey rotatez rotate3d scale scalex scaley scalez scale3d
	skew skewx skewy matrix matrix3d perspective blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
	cubic-bezier steps linear repeat minmax fit-content attr counter counters symbols circle ellipse inset polygon path rect xywh ray
	stylistic styleset character-variant swash ornaments annotation scroll view and or not selector style
	min-width max-width`)

// value returns the value of a property, or the condition of a rule such as @media. property is the
// name of the property or the rule.
func (p *confiner) value(property string, line int, tokens []token) (string, error) {
	var b strings.Builder
	var open []css.TokenType
	for i, t := range tokens {
		switch t.kind {
		case css.BadStringToken, css.BadURLToken:
			return "", wrong(t.line, "%s: a string, an address or a comment is not closed.", property)
		case css.CDOToken, css.CDCToken, css.LeftBraceToken, css.RightBraceToken, css.SemicolonToken, css.AtKeywordToken, css.UnicodeRangeToken, css.ErrorToken, css.CustomPropertyValueToken:
			return "", wrong(t.line, "%s: %q does not belong into a value.", property, clip(t.text))
		case css.LeftParenthesisToken, css.LeftBracketToken:
			open = append(open, closing(t.kind))
		case css.FunctionToken:
			open = append(open, css.RightParenthesisToken)
			if err := p.function(property, t, tokens[i+1:]); err != nil {
				return "", err
			}
		case css.RightParenthesisToken, css.RightBracketToken:
			if len(open) == 0 || open[len(open)-1] != t.kind {
				return "", wrong(t.line, "%s: %q closes nothing.", property, t.text)
			}
			open = open[:len(open)-1]
		case css.URLToken:
			if !p.owns(urlOf(t.text)) {
				return "", p.foreign(property, t)
			}
		case css.StringToken:
			if strings.Contains(strings.ToLower(t.text), "</style") {
				return "", wrong(t.line, "%s: a string cannot contain </style.", property)
			}
		default:
			if strings.Contains(t.text, `\`) {
				return "", wrong(t.line, "%s: a value cannot be written with a backslash outside of strings.", property)
			}
			if t.text == "<" && property != "@media" && property != "@container" || strings.EqualFold(t.text, "expression") || strings.EqualFold(t.text, "javascript") {
				return "", wrong(t.line, "%s: %q does not belong into a value.", property, clip(t.text))
			}
		}
		if t.space() {
			b.WriteByte(' ')
		} else {
			b.WriteString(t.text)
		}
		if b.Len() > maxValue {
			return "", wrong(line, "%s: the value has more than %d bytes.", property, maxValue)
		}
	}
	if len(open) > 0 {
		return "", wrong(line, "%s: a parenthesis is not closed.", property)
	}
	return strings.TrimSpace(b.String()), nil
}

func closing(open css.TokenType) css.TokenType {
	if open == css.LeftBracketToken {
		return css.RightBracketToken
	}
	return css.RightParenthesisToken
}

// function checks the name of a function, and the address of url("…"). rest begins with the
// arguments of the function.
func (p *confiner) function(property string, t token, rest []token) error {
	name := strings.ToLower(strings.TrimSuffix(t.text, "("))
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "-webkit-"), "-moz-")
	switch {
	case name == "url":
		for len(rest) > 0 && rest[0].space() {
			rest = rest[1:]
		}
		for after := rest[min(1, len(rest)):]; ; after = after[1:] { // only white space may follow the string
			if len(after) == 0 || !after[0].space() && after[0].kind != css.RightParenthesisToken {
				return p.foreign(property, t)
			}
			if !after[0].space() {
				break
			}
		}
		if rest[0].kind != css.StringToken || !p.owns(unquote(rest[0].text)) {
			return p.foreign(property, t)
		}
		return nil
	case slices.Contains(functions, plain):
		return nil
	}
	return wrong(t.line, "%s: the function %s) is not allowed.", property, clip(t.text))
}

func (p *confiner) foreign(property string, t token) error {
	if p.Media == "" {
		return wrong(t.line, "%s: url() is not allowed.", property)
	}
	return wrong(t.line, "%s: url() may load your own files only; their addresses begin with %s.", property, p.Media)
}

// owns reports whether address is the path of a file of the author, below p.Media.
func (p *confiner) owns(address string) bool {
	rest, own := strings.CutPrefix(address, p.Media)
	return own && p.Media != "" && rest != "" && !strings.Contains(rest, "..") && !strings.ContainsAny(rest, "\\\"'()<> \t\n?#%") && !strings.HasPrefix(rest, "/")
}

// urlOf returns the address in url(…) without quotes.
func urlOf(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:4], "url(") {
		return ""
	}
	return unquote(strings.TrimSpace(strings.TrimSuffix(s[4:], ")")))
}

// unquote removes the quotes of a string.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
