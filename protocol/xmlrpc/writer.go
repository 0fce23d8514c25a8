package xmlrpc

import (
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"cloudburst/internal/xmlsafe"
)

const header = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// maxDepth is the maximum number of nested elements. Reading has the same limit.
const maxDepth = 100

// Append appends the methodCall to dst. If the call has a value that XML-RPC cannot carry,
// the error wraps [ErrValue] and dst is returned unchanged.
func (c Call) Append(dst []byte) ([]byte, error) {
	if !validMethod(c.Method) {
		return dst, fmt.Errorf("%w: %.60q cannot be the name of a method", ErrValue, c.Method)
	}
	start := len(dst)
	dst = append(dst, header+"<methodCall><methodName>"...)
	dst = append(dst, c.Method...)
	dst = append(dst, "</methodName><params>"...)
	for i, p := range c.Params {
		dst = append(dst, "<param>"...)
		var err error
		if dst, err = appendValue(dst, p, 4); err != nil {
			return dst[:start], fmt.Errorf("parameter %d: %w", i+1, err)
		}
		dst = append(dst, "</param>"...)
	}
	return append(dst, "</params></methodCall>\n"...), nil
}

// Marshal returns the methodCall. It returns the errors of [Call.Append].
func (c Call) Marshal() ([]byte, error) {
	b, err := c.Append(nil)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// WriteTo writes the methodCall to w in a single write. It writes nothing if the call
// cannot be encoded.
func (c Call) WriteTo(w io.Writer) (int64, error) {
	b, err := c.Append(nil)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// MarshalResponse returns the methodResponse with the value v. The error wraps [ErrValue].
func MarshalResponse(v any) ([]byte, error) {
	b := []byte(header + "<methodResponse><params><param>")
	b, err := appendValue(b, v, 4)
	if err != nil {
		return nil, err
	}
	return append(b, "</param></params></methodResponse>\n"...), nil
}

// MarshalFault returns the methodResponse with the fault f. Characters that XML cannot
// carry become U+FFFD.
func MarshalFault(f *Fault) []byte {
	b := []byte(header + "<methodResponse><fault>")
	b, err := appendValue(b, faultValue(f), 3)
	if err != nil {
		// This is unreachable: the text is clean and every int can be written.
		return nil
	}
	return append(b, "</fault></methodResponse>\n"...)
}

func faultValue(f *Fault) map[string]any {
	return map[string]any{"faultCode": f.Code, "faultString": xmlsafe.Clean(f.String)}
}

// appendValue writes <value>. depth is the number of open elements, including this one.
func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth >= maxDepth {
		return dst, fmt.Errorf("%w: nested too deeply", ErrValue)
	}
	dst = append(dst, "<value>"...)
	var err error
	switch v := v.(type) {
	case nil:
		dst = append(dst, "<nil/>"...)
	case string:
		dst, err = appendString(dst, v)
	case bool:
		dst = append(dst, "<boolean>"...)
		dst = append(dst, "01"[btoi(v)])
		dst = append(dst, "</boolean>"...)
	case int:
		dst = appendInt(dst, int64(v))
	case int64:
		dst = appendInt(dst, v)
	case float64:
		dst, err = appendDouble(dst, v)
	case []byte:
		dst = append(dst, "<base64>"...)
		dst = base64.StdEncoding.AppendEncode(dst, v)
		dst = append(dst, "</base64>"...)
	case time.Time:
		dst, err = appendTime(dst, v)
	case []any:
		dst, err = appendArray(dst, len(v), func(i int) any { return v[i] }, depth)
	case map[string]any:
		dst, err = appendStruct(dst, v, depth)
	default:
		dst, err = appendReflected(dst, reflect.ValueOf(v), depth)
	}
	if err != nil {
		return dst, err
	}
	return append(dst, "</value>"...), nil
}

// appendReflected writes the types without a case in appendValue, inside of an open
// <value>.
func appendReflected(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	switch v.Kind() {
	case reflect.Bool:
		return append(append(append(dst, "<boolean>"...), "01"[btoi(v.Bool())]), "</boolean>"...), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendInt(dst, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return dst, fmt.Errorf("%w: the number %d has more than 63 bits", ErrValue, v.Uint())
		}
		return appendInt(dst, int64(v.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return appendDouble(dst, v.Float())
	case reflect.String:
		return appendString(dst, v.String())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			reflect.Copy(reflect.ValueOf(b), v)
			dst = append(dst, "<base64>"...)
			return append(base64.StdEncoding.AppendEncode(dst, b), "</base64>"...), nil
		}
		return appendArray(dst, v.Len(), func(i int) any { return v.Index(i).Interface() }, depth)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		members := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			members[it.Key().String()] = it.Value().Interface()
		}
		return appendStruct(dst, members, depth)
	}
	return dst, fmt.Errorf("%w: there is no XML-RPC type for %s", ErrValue, v.Type())
}

func appendString(dst []byte, s string) ([]byte, error) {
	dst = append(dst, "<string>"...)
	dst, err := xmlsafe.AppendText(dst, s)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return append(dst, "</string>"...), nil
}

// appendInt writes a number that exceeds the specification's 32 bits as i8.
//
// spec:xmlrpc-1999#scalars
func appendInt(dst []byte, n int64) []byte {
	tag := "int>"
	if n != int64(int32(n)) {
		tag = "i8>"
	}
	dst = append(append(dst, '<'), tag...)
	dst = strconv.AppendInt(dst, n, 10)
	return append(append(dst, "</"...), tag...)
}

// appendDouble writes digits, a period and digits, as the specification requires. There is
// no exponent and no notation for infinity.
//
// spec:xmlrpc-1999#double
func appendDouble(dst []byte, f float64) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return dst, fmt.Errorf("%w: the number %v", ErrValue, f)
	}
	dst = append(dst, "<double>"...)
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[start:], '.') {
		dst = append(dst, ".0"...)
	}
	return append(dst, "</double>"...), nil
}

func appendTime(dst []byte, t time.Time) ([]byte, error) {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return dst, fmt.Errorf("%w: the year %d", ErrValue, t.Year())
	}
	dst = append(dst, "<dateTime.iso8601>"...)
	dst = t.AppendFormat(dst, "20060102T15:04:05")
	return append(dst, "</dateTime.iso8601>"...), nil
}

func appendArray(dst []byte, n int, item func(int) any, depth int) ([]byte, error) {
	// Two more elements, <array> and <data>, are open here.
	if depth+2 >= maxDepth {
		return dst, fmt.Errorf("%w: nested too deeply", ErrValue)
	}
	dst = append(dst, "<array><data>"...)
	for i := range n {
		var err error
		if dst, err = appendValue(dst, item(i), depth+3); err != nil {
			return dst, err
		}
	}
	return append(dst, "</data></array>"...), nil
}

// appendStruct writes the members sorted by name, so equal values have equal encodings.
func appendStruct(dst []byte, members map[string]any, depth int) ([]byte, error) {
	if depth+3 >= maxDepth {
		return dst, fmt.Errorf("%w: nested too deeply", ErrValue)
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, "<struct>"...)
	for _, name := range names {
		dst = append(dst, "<member><name>"...)
		var err error
		if dst, err = xmlsafe.AppendText(dst, name); err != nil {
			return dst, fmt.Errorf("%w: the name of a member: %w", ErrValue, err)
		}
		dst = append(dst, "</name>"...)
		if dst, err = appendValue(dst, members[name], depth+3); err != nil {
			return dst, err
		}
		dst = append(dst, "</member>"...)
	}
	return append(dst, "</struct>"...), nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
