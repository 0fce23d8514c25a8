package xmlsafe

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/internal/text"
)

// parser parses valid UTF-8 with its own stack, so that nesting uses no goroutine stack.
type parser struct {
	src []byte
	pos int
	o   Options

	root     *Node
	open     []frame
	elements int
	bindings int

	line, linePos int
}

// frame is an open element. It collects the text as bytes: appending many pieces to a string would
// take quadratic time.
type frame struct {
	node *Node
	text []byte
}

func (p *parser) document() (*Node, error) {
	if p.has("<?xml") && p.pos+5 < len(p.src) && isSpace(p.src[p.pos+5]) {
		if err := p.declaration(); err != nil {
			return nil, err
		}
	}
	for p.pos < len(p.src) {
		step := p.characters
		if p.src[p.pos] == '<' {
			step = p.markup
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	if len(p.open) > 0 {
		return nil, p.errorf("the document ends inside <%s>", cut(p.top().node.Name()))
	}
	if p.root == nil {
		return nil, p.errorf("there is no XML element")
	}
	return p.root, nil
}

func (p *parser) markup() error {
	switch {
	case p.has("<!--"):
		return p.comment()
	case p.has("<![CDATA["):
		return p.cdata()
	case p.has("<!"):
		if len(p.src)-p.pos >= 9 && strings.EqualFold(string(p.src[p.pos+2:p.pos+9]), "doctype") {
			return p.fail(ErrDoctype, "a document type declaration (DOCTYPE) is not accepted here")
		}
		return p.errorf("unknown markup after \"<!\"")
	case p.has("<?"):
		return p.instruction()
	case p.has("</"):
		return p.endTag()
	}
	return p.startTag()
}

// declaration reads <?xml version="1.x" encoding="…" standalone="…"?>.
func (p *parser) declaration() error {
	p.pos += len("<?xml")
	order := []string{"version", "encoding", "standalone"}
	for first := true; ; first = false {
		spaced := p.space()
		if p.has("?>") {
			if first {
				return p.errorf("the XML declaration has no version")
			}
			p.pos += 2
			return nil
		}
		name, value, err := p.pseudoAttr()
		if err != nil {
			return err
		}
		i := slices.Index(order, name)
		if !spaced || i < 0 || first && i != 0 {
			return p.errorf("the XML declaration is malformed")
		}
		order = order[i+1:]
		if !validPseudo(name, value) {
			return p.errorf("the XML declaration has the invalid value %s=%.40q", name, value)
		}
	}
}

func (p *parser) pseudoAttr() (name, value string, err error) {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= 'a' && p.src[p.pos] <= 'z' {
		p.pos++
	}
	name = string(p.src[start:p.pos])
	p.space()
	if !p.take('=') {
		return "", "", p.errorf("the XML declaration is malformed")
	}
	p.space()
	raw, err := p.quoted()
	return name, string(raw), err
}

func validPseudo(name, value string) bool {
	switch name {
	case "version":
		digits, ok := strings.CutPrefix(value, "1.")
		return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
	case "encoding":
		if value == "" || !(value[0]|0x20 >= 'a' && value[0]|0x20 <= 'z') {
			return false
		}
		return strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	}
	return value == "yes" || value == "no"
}

func (p *parser) comment() error {
	body := p.src[p.pos+4:]
	i := bytes.Index(body, []byte("--"))
	if i < 0 {
		return p.errorf("a comment does not end")
	}
	if i+2 >= len(body) || body[i+2] != '>' {
		return p.errorf("a comment contains \"--\"")
	}
	p.pos += 4 + i + 3
	return nil
}

func (p *parser) cdata() error {
	if len(p.open) == 0 {
		return p.errorf("character data outside the root element")
	}
	body := p.src[p.pos+len("<![CDATA["):]
	i := bytes.Index(body, []byte("]]>"))
	if i < 0 {
		return p.errorf("a CDATA section does not end")
	}
	f := p.top()
	f.text = appendLines(f.text, body[:i])
	p.pos += len("<![CDATA[") + i + 3
	return nil
}

func (p *parser) instruction() error {
	start := p.pos
	p.pos += 2
	target, err := p.name()
	if err != nil {
		return err
	}
	if strings.EqualFold(target, "xml") {
		p.pos = start
		return p.errorf("the XML declaration must be at the very beginning, and only once")
	}
	if !p.has("?>") && !p.space() {
		return p.errorf("a processing instruction has a bad name")
	}
	i := bytes.Index(p.src[p.pos:], []byte("?>"))
	if i < 0 {
		return p.errorf("a processing instruction does not end")
	}
	p.pos += i + 2
	return nil
}

// characters reads text up to the next "<".
func (p *parser) characters() error {
	raw := p.src[p.pos:]
	if i := bytes.IndexByte(raw, '<'); i >= 0 {
		raw = raw[:i]
	}
	if len(p.open) == 0 {
		if len(bytes.Trim(raw, whiteSpace)) > 0 {
			if p.root != nil {
				return p.errorf("there is text after the root element")
			}
			return p.errorf("this is not XML: there is text before the first element")
		}
		p.pos += len(raw)
		return nil
	}
	if bytes.Contains(raw, []byte("]]>")) {
		return p.errorf("\"]]>\" occurs outside a CDATA section")
	}
	f := p.top()
	text, rest, err := p.expand(f.text, raw, false)
	if err != nil {
		p.pos += len(raw) - len(rest)
		err.Line = p.lineHere()
		return err
	}
	f.text = text
	p.pos += len(raw)
	return nil
}

// expand appends raw to dst and replaces the references. It normalizes line ends and, in
// attributes, all white space. After an error, rest is the unread part of raw.
func (p *parser) expand(dst, raw []byte, attr bool) (text, rest []byte, _ *Error) {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			i = len(raw)
		}
		if attr {
			dst = appendSpaces(dst, raw[:i])
		} else {
			dst = appendLines(dst, raw[:i])
		}
		if raw = raw[i:]; len(raw) == 0 {
			break
		}
		end := bytes.IndexByte(raw[:min(len(raw), 64)], ';')
		if end < 0 {
			return dst, raw, p.errorf("an \"&\" that is not escaped; write &amp;")
		}
		r, ok := reference(string(raw[1:end]))
		if !ok {
			return dst, raw, p.errorf("the reference &%s; is unknown", cut(string(raw[1:end])))
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[end+1:]
	}
	return dst, nil, nil
}

func reference(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "apos":
		return '\'', true
	case "quot":
		return '"', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if d, hex := strings.CutPrefix(digits, "x"); hex {
		digits, base = d, 16
	}
	r, err := strconv.ParseUint(digits, base, 31)
	return rune(r), err == nil && isChar(rune(r))
}

func appendLines(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\r')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(append(dst, raw[:i]...), '\n')
		raw = raw[i+1:]
		if len(raw) > 0 && raw[0] == '\n' {
			raw = raw[1:]
		}
	}
}

func appendSpaces(dst, raw []byte) []byte {
	for i, c := range raw {
		switch {
		case c == '\n' && i > 0 && raw[i-1] == '\r':
			// \r\n is one line end, hence one space.
		case isSpace(c):
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func (p *parser) top() *frame { return &p.open[len(p.open)-1] }

func (p *parser) has(s string) bool { return bytes.HasPrefix(p.src[p.pos:], []byte(s)) }

func (p *parser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) space() bool {
	start := p.pos
	for p.pos < len(p.src) && isSpace(p.src[p.pos]) {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) quoted() ([]byte, error) {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' && p.src[p.pos] != '\'' {
		return nil, p.errorf("a value without quotation marks")
	}
	quote := p.src[p.pos]
	i := bytes.IndexByte(p.src[p.pos+1:], quote)
	if i < 0 {
		return nil, p.errorf("a quoted value does not end")
	}
	raw := p.src[p.pos+1 : p.pos+1+i]
	p.pos += i + 2
	return raw, nil
}

// lineHere returns the line of the current position, from 1. It counts only the lines after the
// position of the previous call.
func (p *parser) lineHere() int {
	if p.line == 0 {
		p.line = 1
	}
	if p.pos > p.linePos {
		p.line += bytes.Count(p.src[p.linePos:p.pos], []byte("\n"))
		p.linePos = p.pos
	}
	return p.line
}

func (p *parser) errorf(format string, args ...any) *Error {
	return &Error{Line: p.lineHere(), Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) fail(kind error, msg string) error {
	return &Error{Line: p.lineHere(), Msg: msg, Kind: kind}
}

// cut shortens a name from the document for an error text.
func cut(s string) string {
	if len(s) <= 60 {
		return s
	}
	return text.Head(s, 60) + "…"
}
