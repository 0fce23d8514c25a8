package feed

import "strings"

// looksLikeMCF reports whether text is MCF in its text form, which preceded XML: it begins with
// the headers or with a unit.
func looksLikeMCF(text string) bool {
	s := mcfScan{doc: text}
	name, ok := s.slot()
	if !ok {
		return false
	}
	switch strings.ToLower(name) {
	case "begin-headers", "mcfversion":
		return true
	case "unit": // the word must be a unit of MCF, not a unit of measurement
		return s.more() && (s.doc[s.pos] == '"' || s.doc[s.pos] == '#' || isWeb(s.doc[s.pos:]))
	}
	return false
}

// mcfText reads MCF in the text form of HotSauce (1996): slots and their values, separated by
// white space:
//
//	begin-headers:
//	MCFVersion: 0.95
//	end-headers:
//	unit: "http://example.org/"
//	name: "An example"
//	parent: #"start" #"news"
//
// spec:mcf-1996#syntax
func (p *parser) mcfText(text string) error {
	p.f.Format = MCF
	m := mcfReader{parser: p, header: &mcfUnit{}}
	lines := lineCount{line: 1}
	m.report = func(kind string, offset int, message string) {
		p.problemAt(kind, lines.at(text, offset), "", message)
	}
	s := mcfScan{doc: text, report: m.report}
	m.slots(&s)
	if s.cut {
		m.report(ProblemTruncated, len(text), "The document ends within a text; the text up to the end is read.")
	}
	for i := range m.units {
		m.units[i].kind = m.units[i].get("typeOf")
	}
	m.finish()
	return nil
}

// slots reads units and their slots.
func (m *mcfReader) slots(s *mcfScan) {
	u, slot := m.header, ""
	for s.more() {
		if m.unknown > m.o.Limits.Unknown {
			m.report(ProblemLimit, s.pos, "There are too many units and slots; the rest is left out.")
			return
		}
		if name, ok := s.slot(); ok {
			slot = name
			switch strings.ToLower(name) {
			case "begin-headers", "end-headers":
				slot = ""
			case "unit", "node":
				slot = ""
				v, _ := s.value()
				m.unknown++
				m.units = append(m.units, mcfUnit{id: v.value, at: v.at})
				u = &m.units[len(m.units)-1]
			}
			continue
		}
		v, ok := s.value()
		switch {
		case !ok:
		case slot == "":
			m.report(ProblemMarkup, v.at, "A value has no slot name; it is skipped.")
		case u == m.header && strings.EqualFold(slot, "MCFVersion"):
			m.f.Version = v.value
		default:
			m.unknown++
			v.name = slot
			u.props = append(u.props, v)
		}
	}
}

// at returns the line of an offset in doc.
func (l *lineCount) at(doc string, offset int) int {
	offset = min(offset, len(doc))
	if offset >= l.offset {
		l.line += strings.Count(doc[l.offset:offset], "\n")
	} else {
		l.line -= strings.Count(doc[offset:l.offset], "\n")
	}
	l.offset = offset
	return l.line
}

// mcfScan splits the text into tokens.
type mcfScan struct {
	doc    string
	pos    int
	cut    bool // the document ended inside a quoted text
	report func(kind string, offset int, message string)
}

// more skips white space, commas and comments, and reports whether anything follows.
func (s *mcfScan) more() bool {
	for s.pos < len(s.doc) {
		switch c := s.doc[s.pos]; {
		case c == ';':
			n := strings.IndexByte(s.doc[s.pos:], '\n')
			if n < 0 {
				s.pos = len(s.doc)
				return false
			}
			s.pos += n
		case c <= ' ' || c == ',' || c == 0x7f:
			s.pos++
		case strings.HasPrefix(s.doc[s.pos:], "\ufeff"):
			s.pos += len("\ufeff")
		default:
			return true
		}
	}
	return false
}

// slot reads the name of a slot and the colon after it. It returns false if there is no slot name
// at this position.
func (s *mcfScan) slot() (string, bool) {
	if !s.more() {
		return "", false
	}
	i := s.pos
	for i < len(s.doc) && (isLetterOrDigit(s.doc[i]) || s.doc[i] == '_' || s.doc[i] == '-' || s.doc[i] == '.') {
		i++
	}
	if i == s.pos || i >= len(s.doc) || s.doc[i] != ':' {
		return "", false
	}
	if i+1 < len(s.doc) && s.doc[i+1] > ' ' && s.doc[i+1] != '"' && s.doc[i+1] != '#' {
		return "", false // the beginning of a URL, http://…, is not a slot
	}
	name := s.doc[s.pos:i]
	s.pos = i + 1
	return name, true
}

// value reads a quoted text, a word, or the id of a unit, which is a text after #. It returns false
// if the text ends or another slot follows.
func (s *mcfScan) value() (mcfProperty, bool) {
	if !s.more() {
		return mcfProperty{}, false
	}
	begin := s.pos
	if _, ok := s.slot(); ok {
		s.pos = begin
		return mcfProperty{}, false
	}
	v := mcfProperty{at: begin}
	i := begin
	for i < len(s.doc) && s.doc[i] > ' ' && s.doc[i] != '"' && s.doc[i] != ',' {
		i++
	}
	v.value = s.doc[begin:i]
	s.pos = i
	if i >= len(s.doc) || s.doc[i] != '"' {
		if v.unit = strings.HasPrefix(v.value, "#"); v.unit {
			v.value = v.value[1:]
		}
		return v, true
	}
	switch text := s.quoted(); v.value {
	case "":
		v.value = text
	case "#":
		v.value, v.unit = text, true
	default: // the id of a unit in another document
		v.value += text
		v.unit = strings.Contains(v.value, "#")
	}
	return v, true
}

// quoted reads the text whose opening quote is at pos.
func (s *mcfScan) quoted() string {
	i := s.pos + 1
	var b strings.Builder
	for run := i; ; i++ {
		switch {
		case i >= len(s.doc):
			s.cut = true
			s.pos = i
			b.WriteString(s.doc[run:])
			return strings.TrimSpace(b.String())
		case s.doc[i] == '"':
			s.pos = i + 1
			if b.Len() == 0 {
				return strings.TrimSpace(s.doc[run:i])
			}
			b.WriteString(s.doc[run:i])
			return strings.TrimSpace(b.String())
		case s.doc[i] == '\\' && i+1 < len(s.doc) && (s.doc[i+1] == '"' || s.doc[i+1] == '\\'):
			b.WriteString(s.doc[run:i])
			i++
			run = i
		}
	}
}
