package config

import (
	"fmt"

	"cloudburst/internal/text"
)

func (s Setting) parseSize(value string) (int, error) {
	n, err := text.ParseSize(value)
	if err != nil {
		return 0, err
	}
	if lowest, err := text.ParseSize(s.Min); err == nil && n < lowest {
		return 0, fmt.Errorf("%s is too small: the minimum is %s", value, s.Min)
	}
	if highest, err := text.ParseSize(s.Max); err == nil && n > highest {
		return 0, fmt.Errorf("%s is too large: the maximum is %s", value, s.Max)
	}
	return int(n), nil
}
