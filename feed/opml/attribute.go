package opml

import "strings"

// field is a known attribute of an outline. If an outline has no recorded order, attributes are
// written in the order of these constants.
type field byte

// The zero value stands for the next entry of Outline.Attrs.
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

// String returns the name of the attribute.
func (f field) String() string {
	return [fields]string{"", "text", "title", "type", "xmlUrl", "htmlUrl", "url", "description", "language",
		"version", "category", "created", "isComment", "isBreakpoint"}[f]
}

// fieldOf returns the field for an attribute name without a prefix. exact is true when the
// name has the standard spelling.
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

// value returns the text that the writer writes for the field.
func (o *Outline) value(f field) string {
	switch f {
	case fieldIsComment:
		return flag(o.IsComment)
	case fieldIsBreakpoint:
		return flag(o.IsBreakpoint)
	}
	if s := o.textField(f); s != nil {
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

// textField returns a pointer to the field's string, or nil for the two boolean fields.
func (o *Outline) textField(f field) *string {
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

// set stores a value. It returns false when the value is invalid for this field.
//
// spec:opml20-2007#comment-and-breakpoint
func (o *Outline) set(f field, value string) bool {
	if s := o.textField(f); s != nil {
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

// plain reports whether order is the writer's default order: the text, the fields that have a value
// in constant order, then the other attributes. order must contain every field that has a value.
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

// Attr returns the value of an attribute, known or not. The name includes the prefix, as in
// "xmlUrl" or "source:feed". ok is false when the outline does not have the attribute; a known
// attribute with an empty value counts as missing.
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
