package sanitize

import (
	"slices"
	"strings"
)

// valueKind decides how to check the value of an attribute.
type valueKind uint8

const (
	noValue     valueKind = iota
	plainValue            // the value is any text
	flagValue             // the attribute is boolean; its value is ignored
	linkValue             // the value is the URL of a link
	sourceValue           // the value is a URL that browsers load without a click
	sourceSetValue
	styleValue
	colourValue // the value is a colour, as in presentational attributes
	targetValue // the value of target is the name of a window
	relValue    // the value of rel is a list of link types
)

// attribute is an allowed attribute.
type attribute struct {
	name      string // name in the case that the output uses
	valueKind valueKind
	on        trait // elements with one of these traits may have the attribute; 0: all elements
	seen      uint8 // number of the attribute, unique in its namespace
}

// attributeTable holds the allowed attributes of HTML, SVG and MathML; key: lowercase name.
//
// Excluded are id and name, which collide with names that scripts of a page use, and attributes
// that move the focus, handle keys, submit forms or load resources.
type attributeTable struct{ html, svg, math *nameTable[attribute] }

var attributes = attributeTable{htmlAttributes(), svgAttributes(), mathAttributes()}

// forElement returns the table for the namespace of e.
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
	addAttributes(m, plainValue, 0, `abbr align alt axis border
		cellpadding cellspacing ch char charoff charset choff class clear cols
		colspan coords datetime dir end face frame headers height
		high hreflang hspace kind label lang loopcount loopend loopstart low max media
		min optimum point-size preload rev rowspan rules scope
		shape size sizes span srclang start summary title type valign value volume vspace width wrap
		xml:lang`)
	// These obsolete attributes have no effect in browsers.
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
	addAttributes(m, colourValue, 0, "bgcolor bordercolor bordercolordark bordercolorlight color")
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

// xlinkHref is the name of href in SVG 1.1. A tag with this attribute also declares the prefix
// xlink, as XML parsers require.
const (
	xlinkHref        = "xlink:href"
	xlinkDeclaration = "xmlns:xlink"
	xlinkSpace       = "http://www.w3.org/1999/xlink"
)

// isLinkTarget reports whether name is an attribute that holds the URL of a link.
func isLinkTarget(name string) bool { return name == "href" || name == xlinkHref }

func mathAttributes() *nameTable[attribute] {
	m := new(nameTable[attribute])
	addAttributes(m, plainValue, 0, `accent accentunder align alttext bevelled class close columnalign
		columnlines columnspacing columnspan columnwidth denomalign depth dir display displaystyle
		encoding equalcolumns equalrows fence fontstyle fontweight form frame framespacing height
		largeop linebreak linethickness lquote lspace mathsize mathvariant
		maxsize minsize movablelimits notation numalign open rowalign rowlines rowspacing rowspan rquote
		rspace scriptlevel scriptminsize scriptsizemultiplier separator separators stretchy
		subscriptshift superscriptshift symmetric voffset width`)
	addAttributes(m, colourValue, 0, "mathbackground mathcolor")
	return m
}

// seenSet is the set of attributes that a tag already has. Later attributes of the same name are
// dropped.
type seenSet [4]uint64

func (s *seenSet) add(n uint8) (was bool) {
	bit := uint64(1) << (n % 64)
	was = s[n/64]&bit != 0
	s[n/64] |= bit
	return was
}

// keptAttribute is an allowed attribute with the allowed part of its value.
type keptAttribute struct {
	name, value string
	valueKind   valueKind
	written     bool // the value is already escaped
}

// allowedAttribute returns the attribute with the lowercase name key. It returns nil if e must not
// have this attribute or if seen already contains it.
func allowedAttribute(e *element, seen *seenSet, key string) *attribute {
	a := attributes.forElement(e).get(key)
	if a == nil || a.on != 0 && !e.is(a.on) || seen.add(a.seen) {
		return nil
	}
	return a
}

// keep returns the allowed part of an attribute of e, or false if the attribute must be dropped.
func (z *Sanitizer) keep(e *element, a *attribute, value string) (keptAttribute, bool) {
	ok := true
	switch a.valueKind {
	case linkValue:
		value, ok = safeLink(value)
		ok = ok && (value != "" || !isLinkTarget(a.name)) // an empty href would link to the page that displays the text
	case flagValue:
		value = a.name
	case sourceValue:
		value, ok = safeSource(value, e.name == "img" && a.name == "src")
	case sourceSetValue:
		value, ok = safeSet(value)
	case styleValue:
		if z.o.NoStyles {
			return keptAttribute{}, false
		}
		value = safeStyle(value, e.is(svg))
		ok = value != ""
	case colourValue:
		ok = !z.o.NoStyles && !(e.is(foreign) && mentionsAddress(value))
	case targetValue:
		// Other target names could select windows of other pages. The page in a _blank window
		// cannot access its opener, unless the link has rel=opener.
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

// safeRel returns the words of a rel attribute without opener, which would let the linked page
// access the page with the link. It returns false if no word remains.
func safeRel(value string) (string, bool) {
	if isTidyRel(value) {
		return value, true
	}
	all := strings.Fields(strings.ToLower(value))
	all = slices.DeleteFunc(all, func(word string) bool { return word == "opener" })
	return strings.Join(all, " "), len(all) > 0
}

// isTidyRel reports whether value consists of allowed words separated by single spaces.
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

// mentionsAddress reports whether the value of an attribute of SVG or MathML may contain a
// reference, such as url(...).
func mentionsAddress(v string) bool {
	return strings.ContainsAny(v, `\:`) || strings.Contains(strings.ToLower(v), "url")
}

// appendTag appends the start tag of e. Each call of next returns one attribute of the tag and
// whether another attribute follows.
func (z *Sanitizer) appendTag(out []byte, e *element, next func() (key, value string, more bool)) []byte {
	var seen seenSet
	var space [12]keptAttribute
	all := space[:0]
	hasTarget := false
	lazy := ""
	for more := true; more; {
		var key, value string
		key, value, more = next()
		if lazy == "" && isLazySource(e, key) {
			lazy = strings.TrimSpace(value)
		}
		a := allowedAttribute(e, &seen, key)
		if a == nil {
			continue
		}
		if k, ok := z.keep(e, a, value); ok {
			all = append(all, k)
			hasTarget = hasTarget || isLinkTarget(k.name)
		}
	}
	if lazy != "" {
		all = withLazySource(all, lazy)
	}
	return z.appendKept(out, e, all, hasTarget)
}

// withLazySource replaces the src of an image by lazy, the URL from a lazy source. A src that is no
// data: URL stays if lazy is relative, because only the src may have been resolved.
func withLazySource(all []keptAttribute, lazy string) []keptAttribute {
	source, ok := safeSource(lazy, true)
	_, name, _ := scheme(source)
	absolute := name != "" || strings.HasPrefix(source, "//")
	i := slices.IndexFunc(all, func(k keptAttribute) bool { return k.name == "src" })
	switch {
	case !ok:
	case i < 0:
		all = append(all, keptAttribute{"src", source, sourceValue, false})
	case absolute || strings.HasPrefix(all[i].value, "data:"):
		all[i] = keptAttribute{"src", source, sourceValue, false}
	}
	return all
}

// isLazySource reports whether an attribute of e is where scripts that load images late read the
// URL of the image. The src of such an element is a placeholder or missing.
func isLazySource(e *element, key string) bool {
	return e.name == "img" && (key == "data-src" || key == "data-lazy-src" || key == "data-original")
}

// appendKept appends the start tag of e with the given attributes. hasTarget reports whether one of
// the attributes is a link target.
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
	// The HTML parser sorts some attributes. All attributes are sorted here, so that parsing the
	// output does not change their order.
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
