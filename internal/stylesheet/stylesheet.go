// Package stylesheet confines the style sheet of an author to one element of a page: each selector
// is limited to the descendants of that element, nothing is loaded from other sites, and nothing can
// cover the rest of the page. It follows the tokens and the grammar of CSS Syntax Level 3. Start with
// [Confine].
package stylesheet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"

	"cloudburst/internal/fault"
)

// These are the limits of a style sheet.
const (
	MaxBytes     = 64 << 10
	maxRules     = 3000
	maxSelectors = 100  // maximum number of selectors of one rule
	maxSelector  = 1000 // maximum bytes of one selector
	maxDepth     = 4    // maximum nesting of rules in rules such as @media
	maxValue     = 4000 // maximum bytes of one value
)

// Options define where a style sheet applies.
type Options struct {
	// Scope is the selector of the element, such as ".author". The selectors html, body and :root
	// select this element.
	Scope string
	// Media is the prefix of the paths that url() may load, such as "/alice/media/". If Media is
	// "", url() is not allowed.
	Media string
}

// Confine checks a style sheet and returns it limited to the element of o.Scope, without comments.
// fault.Invalid: the style sheet is longer than MaxBytes, is malformed, or contains a construct
// that is not allowed. The message names the line.
func Confine(source string, o Options) (string, error) {
	if len(source) > MaxBytes {
		return "", fault.New(fault.Invalid, "The style sheet has %d bytes; at most %d are accepted.", len(source), MaxBytes)
	}
	if i := strings.IndexByte(source, 0); i >= 0 {
		return "", fault.New(fault.Invalid, "Line %d: a style sheet cannot contain the byte 0.", 1+strings.Count(source[:i], "\n"))
	}
	p := &confiner{Options: o, tokens: tokenize(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n").Replace(source))}
	if err := p.rules(0); err != nil {
		return "", err
	}
	return p.out.String(), nil
}

// token is a token of CSS with its line, from 1.
type token struct {
	kind css.TokenType
	text string
	line int
}

func (t token) is(char string) bool { return t.text == char && t.kind != css.StringToken }

// space reports whether t is white space.
func (t token) space() bool { return t.kind == css.WhitespaceToken }

// tokenize splits a style sheet into tokens and replaces each comment by a space. The last token is
// an ErrorToken.
func tokenize(source string) (all []token) {
	l, line := css.NewLexer(parse.NewInputString(source)), 1
	for {
		kind, data := l.Next()
		t := token{kind, string(data), line}
		line += strings.Count(t.text, "\n")
		switch kind {
		case css.CommentToken:
			if !strings.HasSuffix(t.text, "*/") || len(t.text) < 4 {
				return append(all, token{css.BadStringToken, t.text, t.line}, token{kind: css.ErrorToken, line: line})
			}
			t = token{css.WhitespaceToken, " ", t.line}
		case css.ErrorToken:
			if err := l.Err(); err != nil && !errors.Is(err, io.EOF) {
				all = append(all, token{css.BadStringToken, t.text, t.line})
			}
			return append(all, token{kind: css.ErrorToken, line: line})
		}
		all = append(all, t)
	}
}

// confiner reads the tokens once and writes the confined style sheet.
type confiner struct {
	Options
	tokens []token
	at     int
	count  int // number of rules so far
	out    strings.Builder
}

func (p *confiner) peek() token { return p.tokens[p.at] }

func (p *confiner) next() token {
	t := p.tokens[p.at]
	if t.kind != css.ErrorToken {
		p.at++
	}
	return t
}

func (p *confiner) skipSpace() {
	for p.peek().space() {
		p.at++
	}
}

// wrong returns a fault.Invalid whose message names the line.
func wrong(line int, format string, args ...any) error {
	return fault.New(fault.Invalid, "Line %d: %s", line, fmt.Sprintf(format, args...))
}

// rules reads rules until the end of the style sheet, or until the brace that closes their block.
func (p *confiner) rules(depth int) error {
	for {
		p.skipSpace()
		t := p.peek()
		switch {
		case t.kind == css.ErrorToken && depth == 0:
			return nil
		case t.kind == css.ErrorToken:
			return wrong(t.line, "a block is not closed; a } is missing.")
		case t.kind == css.RightBraceToken && depth == 0:
			return wrong(t.line, "this } closes no block.")
		case t.kind == css.RightBraceToken:
			p.next()
			p.out.WriteString("}\n")
			return nil
		}
		if p.count++; p.count > maxRules {
			return wrong(t.line, "a style sheet has at most %d rules.", maxRules)
		}
		err := error(nil)
		if t.kind == css.AtKeywordToken {
			err = p.atRule(depth)
		} else {
			err = p.rule()
		}
		if err != nil {
			return err
		}
	}
}

// atRule reads a rule such as @media.
func (p *confiner) atRule(depth int) error {
	t := p.next()
	name := strings.ToLower(t.text)
	switch name {
	case "@media", "@supports", "@container", "@keyframes":
	case "@import":
		return wrong(t.line, "@import is not allowed; put the rules into this style sheet.")
	default:
		return wrong(t.line, "%s is not allowed; @media, @supports, @container and @keyframes are.", clip(t.text))
	}
	if depth >= maxDepth {
		return wrong(t.line, "rules are nested more than %d deep.", maxDepth)
	}
	prelude, err := p.until(t.line, css.LeftBraceToken)
	if err != nil {
		return err
	}
	text, err := p.value(name, t.line, prelude)
	if err != nil {
		return err
	}
	p.out.WriteString(name + " " + text + "{\n")
	if name == "@keyframes" {
		return p.frames()
	}
	return p.rules(depth + 1)
}

// frames reads the rules of @keyframes, whose selectors are percentages.
func (p *confiner) frames() error {
	for {
		p.skipSpace()
		t := p.peek()
		if t.kind == css.RightBraceToken {
			p.next()
			p.out.WriteString("}\n")
			return nil
		}
		if p.count++; p.count > maxRules {
			return wrong(t.line, "a style sheet has at most %d rules.", maxRules)
		}
		prelude, err := p.until(t.line, css.LeftBraceToken)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, one := range prelude {
			known := one.kind == css.PercentageToken || one.kind == css.CommaToken || one.space() || strings.EqualFold(one.text, "from") || strings.EqualFold(one.text, "to")
			if !known {
				return wrong(one.line, "%q is not a position in @keyframes; write from, to or a percentage.", clip(one.text))
			}
			text.WriteString(one.text)
		}
		p.out.WriteString(strings.TrimSpace(text.String()) + "{")
		if err := p.declarations(); err != nil {
			return err
		}
	}
}

// until returns the tokens before the next token of kind end, and skips that token.
func (p *confiner) until(line int, end css.TokenType) (found []token, err error) {
	for {
		t := p.next()
		switch t.kind {
		case end:
			return found, nil
		case css.ErrorToken:
			return nil, wrong(line, "a block is not closed or not opened.")
		case css.BadStringToken, css.BadURLToken:
			return nil, wrong(t.line, "a string, an address or a comment is not closed.")
		case css.CDOToken, css.CDCToken, css.LeftBraceToken, css.RightBraceToken, css.SemicolonToken:
			return nil, wrong(t.line, "%q does not belong here.", t.text)
		}
		found = append(found, t)
	}
}

// rule reads selectors and their declarations.
func (p *confiner) rule() error {
	line := p.peek().line
	prelude, err := p.until(line, css.LeftBraceToken)
	if err != nil {
		return err
	}
	selectors, err := p.selectors(line, prelude)
	if err != nil {
		return err
	}
	p.out.WriteString(selectors + "{")
	return p.declarations()
}

// declarations reads the declarations of a block and its closing brace.
func (p *confiner) declarations() error {
	for {
		p.skipSpace()
		t := p.next()
		switch t.kind {
		case css.SemicolonToken:
			continue
		case css.RightBraceToken:
			p.out.WriteString("}\n")
			return nil
		case css.ErrorToken:
			return wrong(t.line, "a block is not closed; a } is missing.")
		case css.IdentToken, css.CustomPropertyNameToken:
		default:
			return wrong(t.line, "%q is not a property; rules inside rules are not supported.", clip(t.text))
		}
		if err := p.declaration(t); err != nil {
			return err
		}
	}
}

// declaration reads one property with its value.
func (p *confiner) declaration(name token) error {
	if err := checkProperty(name); err != nil {
		return err
	}
	p.skipSpace()
	if colon := p.next(); colon.kind != css.ColonToken {
		return wrong(name.line, "%s: a colon is missing after the property.", clip(name.text))
	}
	var value []token
	for p.peek().kind != css.SemicolonToken && p.peek().kind != css.RightBraceToken {
		t := p.next()
		if t.kind == css.ErrorToken {
			return wrong(name.line, "%s: the block of this property is not closed; a } is missing.", name.text)
		}
		value = append(value, t)
	}
	property := strings.ToLower(name.text)
	if strings.HasPrefix(property, "--") {
		property = name.text
	}
	text, err := p.value(property, name.line, value)
	if err != nil {
		return err
	}
	if text == "" {
		return wrong(name.line, "%s: the value is missing.", property)
	}
	if err := checkPosition(property, name.line, text); err != nil {
		return err
	}
	p.out.WriteString(property + ":" + text + ";")
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
