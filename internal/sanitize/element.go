package sanitize

import "strings"

// trait is a property of an element that affects nesting or attributes.
type trait uint32

const (
	void       trait = 1 << iota // has no content and no end tag
	block                        // ends a paragraph
	special                      // end tags of outer formatting do not end it
	formatting                   // continues after an outer element ends
	heading
	boundary  // end tags inside do not end elements outside, except end tags of tables
	tablePart // part of a table; not allowed outside of a table
	inList    // li, dt, dd: ends the previous item
	svg
	math
	leaf // element of SVG or MathML that contains only text
	hidden
	link  // has href
	media // has src
	image // has src and srcset
	cell  // has background
)

const (
	foreign = svg | math
	blocky  = block | special
)

// element is an allowed element.
type element struct {
	name   string // name in the case that the output uses
	traits trait
}

func (e *element) is(t trait) bool { return e.traits&t != 0 }

// elements maps lowercase names to allowed elements. Names of SVG and MathML have their namespace
// as prefix, as in "svg path".
//
// Excluded are form controls, which could request passwords in the name of the page; dialog, which
// covers the page; noscript, which parsers treat differently. The content of excluded elements is
// preserved.
var elements = makeElements()

func makeElements() map[string]*element {
	m := make(map[string]*element)
	add := func(t trait, names string) {
		for name := range strings.FieldsSeq(names) {
			prefix := ""
			switch {
			case t&svg != 0:
				prefix = "svg "
			case t&math != 0:
				prefix = "math "
			}
			m[prefix+strings.ToLower(name)] = &element{name, t}
		}
	}
	add(blocky, `address article aside center details dir div dl fieldset figcaption figure footer
		header hgroup main menu nav ol pre section summary ul p blockquote`)
	add(blocky|heading, "h1 h2 h3 h4 h5 h6")
	add(blocky|void, "hr")
	add(blocky|inList, "li dd dt")
	add(formatting, "b big code em font i s small strike strong tt u")
	add(formatting|link, "a")
	add(0, `abbr acronym bdi bdo canvas cite datagrid del dfn event-source ins kbd label legend m
		map mark meter multicol output picture progress q rp rt ruby samp sound spacer span sub sup
		time var command datalist nextid`)
	add(media, "audio video")
	add(void|special, "br wbr")
	add(void|special|link, "area")
	add(void|special|image, "img source")
	add(void|special|media, "track")
	add(blocky|boundary|cell, "table")
	add(special|tablePart|boundary, "caption")
	add(special|tablePart|boundary|cell, "td th")
	add(special|tablePart|cell, "tr tbody thead tfoot")
	add(special|tablePart, "colgroup")
	add(special|tablePart|void, "col")

	add(svg, `svg circle defs ellipse g line linearGradient marker path polygon polyline
		radialGradient rect stop switch text tspan`)
	add(svg|link, "a")
	// Browsers allow HTML in these elements. Here the elements contain only text, so that all
	// parsers interpret their content in the same way.
	add(svg|leaf, "title desc")
	add(svg|hidden, "metadata foreignObject")
	add(math, `math menclose merror mfenced mfrac mmultiscripts mover mpadded mphantom mprescripts
		mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtr munder munderover none
		semantics`)
	add(math|leaf, "mi mn mo ms mtext annotation")
	add(math|hidden, "annotation-xml")
	return m
}

// isBreakout reports whether an HTML element ends the SVG or MathML around it, as in browsers.
// Other HTML elements would become part of the SVG or MathML.
func isBreakout(name string) bool {
	switch name {
	case "b", "big", "blockquote", "br", "center", "code", "dd", "div", "dl", "dt", "em",
		"h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "li", "menu", "ol", "p", "pre", "ruby",
		"s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
		return true
	}
	return false
}
