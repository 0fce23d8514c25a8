package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// readFile reads a TOML file and returns the text of each setting. Key: setting name.
func readFile(path string, read func(string) ([]byte, error)) (map[string]string, error) {
	b, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("%s, line %d: %s", path, e.Position.Line, e.Message)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	known := map[string]Setting{}
	var names []string
	for _, s := range Settings() {
		known[s.Name] = s
		names = append(names, s.Name)
		if s.Old != "" {
			known[s.Old] = s
		}
		if s.Secret {
			known[s.Name+fileSuffix] = Setting{Name: s.Name + fileSuffix}
			names = append(names, s.Name+fileSuffix)
		}
	}
	values := map[string]string{}
	err = walk(tree, "", func(key string, value any) error {
		s, ok := known[key]
		if !ok {
			return unknown(fmt.Sprintf("the key %s in %s", key, path), key, names)
		}
		text, err := s.text(value)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", key, path, err)
		}
		values[key] = text
		return nil
	})
	return values, err
}

// walk visits the leaves of a tree in the order of their dotted keys, so that the same file always
// gives the same first error.
func walk(tree map[string]any, prefix string, visit func(key string, value any) error) error {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		var err error
		if sub, ok := tree[k].(map[string]any); ok {
			err = walk(sub, prefix+k+".", visit)
		} else {
			err = visit(prefix+k, tree[k])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text converts a TOML value to the text of a flag.
func (s Setting) text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int64:
		if s.Kind == Count || s.Kind == Size || s.Kind == Rate || s.Kind == Share {
			return strconv.FormatInt(v, 10), nil
		}
	case float64:
		if s.Kind == Rate || s.Kind == Share {
			return strconv.FormatFloat(v, 'g', -1, 64), nil
		}
		if v == math.Trunc(v) {
			value = strconv.FormatFloat(v, 'f', 1, 64) // 3.0, because 3 alone would be valid
		}
	case []any:
		return s.list(v)
	}
	return "", fmt.Errorf("%v is invalid: it must be %s", value, s.needs())
}

func (s Setting) list(values []any) (string, error) {
	if s.Kind != Networks && s.Kind != Durations && s.Kind != URLs && s.Kind != PingTargets {
		return "", fmt.Errorf("a list is invalid: it must be %s", s.needs())
	}
	parts := make([]string, len(values))
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			return "", fmt.Errorf("%v is invalid: the list must contain texts in quotes", v)
		}
		if _, rest, ok := strings.Cut(text, ","); ok && (s.Kind == URLs || s.Kind == PingTargets) && !strings.Contains(rest, "://") {
			return "", fmt.Errorf("%q is invalid: a comma separates elements; write %%2C for a comma in a URL", text)
		}
		parts[i] = text
	}
	return strings.Join(parts, ","), nil
}

func (s Setting) needs() string {
	switch s.Kind {
	case Count:
		return "a whole number"
	case Rate, Share:
		return "a number"
	case Networks, Durations, URLs, PingTargets:
		return "a list of texts in quotes"
	case Size:
		return `a size in quotes, such as "64MiB", or a number of bytes`
	case Duration:
		return `a time in quotes, such as "15s"`
	default:
		return "a text in quotes"
	}
}
