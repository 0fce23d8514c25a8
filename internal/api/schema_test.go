package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// schema checks values against the keywords of JSON Schema that openapi.json uses. An unknown
// keyword is an error, so that no keyword is ignored silently.
type schema struct{ doc map[string]any }

func (s schema) resolve(m map[string]any) (map[string]any, error) {
	ref, ok := m["$ref"].(string)
	if !ok {
		return m, nil
	}
	var at any = s.doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		next, ok := at.(map[string]any)
		if !ok || next[part] == nil {
			return nil, fmt.Errorf("unresolved reference %s", ref)
		}
		at = next[part]
	}
	return at.(map[string]any), nil
}

func (s schema) check(m map[string]any, v any, at string) error {
	m, err := s.resolve(m)
	if err != nil {
		return err
	}
	for keyword := range m {
		if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "items", "enum", "pattern", "format",
			"description", "oneOf", "minimum", "maximum", "default"}, keyword) {
			return fmt.Errorf("%s: unsupported keyword %s", at, keyword)
		}
	}
	if list, ok := m["oneOf"].([]any); ok {
		var all []string
		for _, one := range list {
			err := s.check(one.(map[string]any), v, at)
			if err == nil {
				return nil
			}
			all = append(all, err.Error())
		}
		return fmt.Errorf("%s matches no schema: %s", at, strings.Join(all, "; "))
	}
	if enum, ok := m["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Errorf("%s is %v, not one of %v", at, v, enum)
	}
	switch m["type"] {
	case "object":
		return s.checkObject(m, v, at)
	case "array":
		list, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s is %T, not an array", at, v)
		}
		for i, item := range list {
			if err := s.check(m["items"].(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	case "string":
		return checkText(m, v, at)
	case "integer", "number":
		n, ok := v.(float64)
		if !ok || m["type"] == "integer" && n != float64(int64(n)) {
			return fmt.Errorf("%s is %v, not a number of type %s", at, v, m["type"])
		}
		return nil
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%s is %T, not a boolean", at, v)
		}
		return nil
	}
	return fmt.Errorf("%s: unsupported type %v", at, m["type"])
}

func checkText(m map[string]any, v any, at string) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is %T, not a string", at, v)
	}
	if pattern, ok := m["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(text) {
		return fmt.Errorf("%s is %q, not of the form %s", at, text, pattern)
	}
	if m["format"] == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

func (s schema) checkObject(m map[string]any, v any, at string) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %T, not an object", at, v)
	}
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			return fmt.Errorf("%s has no %s", at, name)
		}
	}
	for name, value := range object {
		p, ok := properties[name].(map[string]any)
		if !ok {
			if m["additionalProperties"] == false {
				return fmt.Errorf("%s has %s, which is not described", at, name)
			}
			continue
		}
		if err := s.check(p, value, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func document() (schema, error) {
	var doc map[string]any
	err := json.Unmarshal(OpenAPI(), &doc)
	return schema{doc}, err
}
