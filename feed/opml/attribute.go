package opml

import "strings"

// field is a known attribute of an outline. The order here is the one in which
// they are written when nothing else is known.
type field byte

// Zero stands for the next of Outline.Attrs.
const (
	other field = iota
	fieldText
	fieldTitle
	fieldType
	fieldXMLURL
	fieldHTMLURL
	fieldURL
	fieldDescription
	fieldLanguage
	fieldVersion
	fieldCategory
	fieldCreated
	fieldIsComment
	fieldIsBreakpoint
	fields
)

// String is the name of the attribute.
func (f field) String() string {
	return [fields]string{"", "text", "title", "type", "xmlUrl", "htmlUrl", "url", "description", "language",
		"version", "category", "created", "isComment", "isBreakpoint"}[f]
}

// fieldOf finds the field for the name of an attribute without a prefix. exact says
// that the name was written as it should be.
func fieldOf(name string) (f field, exact bool) {
	switch name {
	case "text":
		return fieldText, true
	case "title":
		return fieldTitle, true
	case "type":
		return fieldType, true
	case "xmlUrl":
		return fieldXMLURL, true
	case "htmlUrl":
		return fieldHTMLURL, true
	case "url":
		return fieldURL, true
	case "description":
		return fieldDescription, true
	case "language":
		return fieldLanguage, true
	case "version":
		return fieldVersion, true
	case "category":
		return fieldCategory, true
	case "created":
		return fieldCreated, true
	case "isComment":
		return fieldIsComment, true
	case "isBreakpoint":
		return fieldIsBreakpoint, true
	}
	if len(name) < 3 || len(name) > len("isBreakpoint") {
		return other, false
	}
	for f := fieldText; f < fields; f++ {
		if strings.EqualFold(f.String(), name) {
			return f, false
		}
	}
	return other, false
}

// value is what the field holds, as it is written.
func (o *Outline) value(f field) string {
	switch f {
	case fieldIsComment:
		return flag(o.IsComment)
	case fieldIsBreakpoint:
		return flag(o.IsBreakpoint)
	}
	if s := o.words(f); s != nil {
		return *s
	}
	return ""
}

func flag(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// words is where the field is kept; nil for those that are no words.
func (o *Outline) words(f field) *string {
	switch f {
	case fieldText:
		return &o.Text
	case fieldTitle:
		return &o.Title
	case fieldType:
		return &o.Type
	case fieldXMLURL:
		return &o.XMLURL
	case fieldHTMLURL:
		return &o.HTMLURL
	case fieldURL:
		return &o.URL
	case fieldDescription:
		return &o.Description
	case fieldLanguage:
		return &o.Language
	case fieldVersion:
		return &o.Version
	case fieldCategory:
		return (*string)(&o.Category)
	case fieldCreated:
		return (*string)(&o.Created)
	}
	return nil
}

// set keeps a value. It is false when the value is none for this field.
//
// spec:opml20-2007#comment-and-breakpoint
func (o *Outline) set(f field, value string) bool {
	if s := o.words(f); s != nil {
		*s = value
		return true
	}
	yes, ok := truth(value)
	if !ok {
		return false
	}
	if f == fieldIsComment {
		o.IsComment = yes
	} else {
		o.IsBreakpoint = yes
	}
	return true
}

func truth(value string) (yes, ok bool) {
	value = strings.TrimSpace(value)
	switch {
	case strings.EqualFold(value, "true"):
		return true, true
	case strings.EqualFold(value, "false"):
		return false, true
	}
	return false, false
}

// plain reports that order, which has every field with a value, is what the writer
// does by itself: the text, the fields with a value in their order, and then the
// others.
func (o *Outline) plain(order []field) bool {
	last := other
	for i, f := range order {
		switch {
		case i == 0 && f != fieldText, f != other && (last == other && i > 0 || f <= last):
			return false
		case f > fieldText && o.value(f) == "":
			return false
		}
		last = f
	}
	return true
}

// Attr is the value of the attribute with this name, prefix included, known or
// not: "xmlUrl", "source:feed". ok is false when there is none; a known attribute
// without value is none.
func (o *Outline) Attr(name string) (value string, ok bool) {
	if f, exact := fieldOf(name); exact {
		if value = o.value(f); value != "" {
			return value, true
		}
	}
	for _, a := range o.Attrs {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}
