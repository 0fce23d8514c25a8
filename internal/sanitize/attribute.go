package sanitize

import (
	"slices"
	"strings"
)

// nature is how the value of an attribute is looked at.
type valueKind uint8

const (
	noValue     valueKind = iota
	plainValue            // any text
	flagValue             // says something by being there
	linkValue             // an address to go to
	sourceValue           // an address that is fetched without asking
	sourceSetValue
	styleValue
	targetValue // target
	relValue    // rel
)

// attribute is one that is allowed.
type attribute struct {
	name      string // as it is written
	valueKind valueKind
	on        trait // the element has one of these; 0: any
	seen      uint8 // a number of its own among those of its namespace
}

// attributeTable are the allowed ones by their names in lower case, of HTML, SVG and
// MathML.
//
// Not here are id and name, which scripts of a page take for their own, and what
// moves the focus, takes keys, submits, or is fetched.
type attributeTable struct{ html, svg, math *nameTable[attribute] }

var attributes = attributeTable{htmlAttributes(), svgAttributes(), mathAttributes()}

// of is the table for an element.
func (t *attributeTable) forElement(e *element) *nameTable[attribute] {
	switch {
	case e.is(svg):
		return t.svg
	case e.is(math):
		return t.math
	}
	return t.html
}

func addAttributes(m *nameTable[attribute], n valueKind, on trait, names string) {
	for name := range strings.FieldsSeq(names) {
		m.add(strings.ToLower(name), attribute{name, n, on, uint8(m.n)})
	}
}

func htmlAttributes() *nameTable[attribute] {
	m := new(nameTable[attribute])
	addAttributes(m, plainValue, 0, `abbr align alt axis bgcolor border bordercolor bordercolordark
		bordercolorlight cellpadding cellspacing ch char charoff charset choff class clear color cols
		colspan coords datetime dir end face frame headers height
		high hreflang hspace kind label lang loopcount loopend loopstart low max media
		min optimum point-size preload rev rowspan rules scope
		shape size sizes span srclang start summary title type valign value volume vspace width wrap
		xml:lang`)
	// Of old readers; nobody takes notice of them any more.
	addAttributes(m, plainValue, 0, `balance bgproperties bottompadding challenge datapagesize delay galleryimg
		gutter keytype leftspacing pqg prompt repeat-max repeat-min replace rightspacing rows step suppress
		template toppadding unselectable urn variable vrml`)
	addAttributes(m, flagValue, 0, `compact controls default hidden ismap loop muted nohref noshade nowrap
		open reversed`)
	addAttributes(m, linkValue, 0, "cite longdesc")
	addAttributes(m, linkValue, link, "href")
	addAttributes(m, sourceValue, media|image, "src")
	addAttributes(m, sourceValue, media, "poster")
	addAttributes(m, sourceValue, cell, "background")
	addAttributes(m, sourceSetValue, image, "srcset")
	addAttributes(m, styleValue, 0, "style")
	addAttributes(m, targetValue, link, "target")
	addAttributes(m, relValue, link, "rel")
	return m
}

func svgAttributes() *nameTable[attribute] {
	m := new(nameTable[attribute])
	addAttributes(m, plainValue, 0, `baseProfile class color color-rendering cx cy d direction display dx dy
		fill fill-opacity fill-rule font-family font-size font-stretch font-style font-variant
		font-weight fx fy gradientTransform gradientUnits height lang letter-spacing markerHeight
		markerUnits markerWidth offset opacity orient pathLength points preserveAspectRatio r refX refY
		rotate rx ry spreadMethod stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset
		stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor
		textLength transform version viewBox visibility width x x1 x2 y y1 y2 zoomAndPan`)
	addAttributes(m, linkValue, link, "href "+xlinkHref)
	addAttributes(m, styleValue, 0, "style")
	addAttributes(m, targetValue, link, "target")
	addAttributes(m, relValue, link, "rel")
	return m
}

// xlinkHref is what SVG 1.1 calls the href of a link. The prefix is declared beside it,
// for readers that read XML.
const (
	xlinkHref        = "xlink:href"
	xlinkDeclaration = "xmlns:xlink"
	xlinkSpace       = "http://www.w3.org/1999/xlink"
)

// isGoal reports that an attribute of a link is the URL that the link leads to.
func isLinkTarget(name string) bool { return name == "href" || name == xlinkHref }

func mathAttributes() *nameTable[attribute] {
	m := new(nameTable[attribute])
	addAttributes(m, plainValue, 0, `accent accentunder align alttext bevelled class close columnalign
		columnlines columnspacing columnspan columnwidth denomalign depth dir display displaystyle
		encoding equalcolumns equalrows fence fontstyle fontweight form frame framespacing height
		largeop linebreak linethickness lquote lspace mathbackground mathcolor mathsize mathvariant
		maxsize minsize movablelimits notation numalign open rowalign rowlines rowspacing rowspan rquote
		rspace scriptlevel scriptminsize scriptsizemultiplier separator separators stretchy
		subscriptshift superscriptshift symmetric voffset width`)
	return m
}

// seenSet are the attributes that a tag had: the first of a name counts.
type seenSet [4]uint64

func (s *seenSet) add(n uint8) (was bool) {
	bit := uint64(1) << (n % 64)
	was = s[n/64]&bit != 0
	s[n/64] |= bit
	return was
}

// kept is an attribute that stays, with what stays of its value.
type keptAttribute struct {
	name, value string
	valueKind   valueKind
	written     bool // the value has its references already
}

// listed gives the attribute that key is of e, nil for one that is not allowed, or
// was there before.
func allowedAttribute(e *element, seen *seenSet, key string) *attribute {
	a := attributes.forElement(e).get(key)
	if a == nil || a.on != 0 && !e.is(a.on) || seen.add(a.seen) {
		return nil
	}
	return a
}

// keep gives what is allowed of an attribute of e.
func (z *Sanitizer) keep(e *element, a *attribute, value string) (keptAttribute, bool) {
	ok := true
	switch a.valueKind {
	case linkValue:
		value, ok = safeLink(value)
		ok = ok && (value != "" || !isLinkTarget(a.name)) // an empty one leads to the page that shows the text
	case flagValue:
		value = a.name
	case sourceValue:
		value, ok = safeSource(value, e.name == "img" && a.name == "src")
	case sourceSetValue:
		value, ok = safeSet(value)
	case styleValue:
		value = safeStyle(value, e.is(svg))
		ok = value != "" && !z.o.NoStyles
	case targetValue:
		// Other names are windows that someone else may have open. A new one does not
		// know who opened it, unless rel says so.
		ok = strings.EqualFold(value, "_blank") && z.o.LinkRel == ""
		value = "_blank"
	case relValue:
		value, ok = safeRel(value)
		ok = ok && z.o.LinkRel == ""
	case plainValue:
		ok = a.name != "class" || !z.o.NoClasses
		if e.is(foreign) {
			ok = ok && !mentionsAddress(value)
		}
	}
	return keptAttribute{a.name, value, a.valueKind, false}, ok
}

// safeRel gives the words of rel without the one that lets a page that is opened
// reach back.
func safeRel(value string) (string, bool) {
	if isTidyRel(value) {
		return value, true
	}
	all := strings.Fields(strings.ToLower(value))
	all = slices.DeleteFunc(all, func(word string) bool { return word == "opener" })
	return strings.Join(all, " "), len(all) > 0
}

// isTidyRel says whether value is words that stay, one blank between them.
func isTidyRel(value string) bool {
	for rest, more := value, true; more; {
		var one string
		one, rest, more = strings.Cut(rest, " ")
		if one == "" || one == "opener" || !only(one, func(c byte) bool { return 'a' <= c && c <= 'z' || c == '-' }) {
			return false
		}
	}
	return true
}

// mentionsAddress says whether the value of an attribute that draws refers to
// something, as url(...) does.
func mentionsAddress(v string) bool {
	return strings.ContainsAny(v, `\:`) || strings.Contains(strings.ToLower(v), "url")
}

// appendTag appends the start tag of e. next gives its attributes one by one.
func (z *Sanitizer) appendTag(out []byte, e *element, next func() (key, value string, more bool)) []byte {
	var seen seenSet
	var space [12]keptAttribute
	all := space[:0]
	hasTarget := false // somewhere
	for more := true; more; {
		var key, value string
		key, value, more = next()
		a := allowedAttribute(e, &seen, key)
		if a == nil {
			continue
		}
		if k, ok := z.keep(e, a, value); ok {
			all = append(all, k)
			hasTarget = hasTarget || isLinkTarget(k.name)
		}
	}
	return z.appendKept(out, e, all, hasTarget)
}

// appendKept appends the start tag of e with the attributes that stay.
func (z *Sanitizer) appendKept(out []byte, e *element, all []keptAttribute, hasTarget bool) []byte {
	out = append(append(out, '<'), e.name...)
	switch {
	case e.name == "svg":
		out = append(out, ` xmlns="http://www.w3.org/2000/svg"`...)
	case e.name == "math":
		out = append(out, ` xmlns="http://www.w3.org/1998/Math/MathML"`...)
	}
	if hasTarget && z.o.LinkRel != "" {
		all = append(all, keptAttribute{"rel", z.o.LinkRel, relValue, false})
	}
	if e.is(svg) && slices.ContainsFunc(all, func(k keptAttribute) bool { return k.name == xlinkHref }) {
		all = append(all, keptAttribute{xlinkDeclaration, xlinkSpace, plainValue, false})
	}
	// The parser sorts some of them, so all are sorted.
	slices.SortFunc(all, func(a, b keptAttribute) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		k := &all[i]
		out = append(append(append(out, ' '), k.name...), `="`...)
		if k.written {
			out = append(out, k.value...)
		} else {
			out = appendValue(out, k.value)
		}
		out = append(out, '"')
	}
	if e.is(void) {
		return append(out, "/>"...)
	}
	return append(out, '>')
}
