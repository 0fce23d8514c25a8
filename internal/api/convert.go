package api

import (
	"fmt"
	"strconv"
	"strings"

	"cloudburst/internal/api/exchange"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func readCursor(text string) (event.Cursor, error) {
	n, err := numbers(text, 3)
	if err != nil {
		return event.Cursor{}, fault.New(fault.Invalid, "%q is not the id of an event.", cut(text, 100))
	}
	return event.Cursor{At: n[0], Node: n[1], Seq: n[2]}, nil
}

func keyText(k hub.Key) string { return fmt.Sprintf("%d:%d", k.TopicID, k.ID) }

func readKey(text string) (hub.Key, error) {
	n, err := numbers(text, 2)
	if err != nil {
		return hub.Key{}, exchange.BadCursor(text)
	}
	return hub.Key{TopicID: n[0], ID: n[1]}, nil
}

// numbers parses n non-negative decimal numbers separated by colons.
func numbers(text string, n int) ([]int64, error) {
	parts := strings.Split(text, ":")
	if len(parts) != n {
		return nil, strconv.ErrSyntax
	}
	list := make([]int64, n)
	for i, part := range parts {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return nil, strconv.ErrSyntax
		}
		list[i] = v
	}
	return list, nil
}
