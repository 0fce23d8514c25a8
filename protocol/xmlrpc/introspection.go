package xmlrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// MaxCalls is the maximum number of calls in one system.multicall.
//
// spec:cloudburst#multicall
const MaxCalls = 50

// system returns one of the methods that every handler has, or nil.
//
// spec:xmlrpc-introspection-2001#methods
func (h *Handler) system(name string) *Method {
	all := h.systemMethods()
	i := slices.IndexFunc(all, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

func (h *Handler) systemMethods() []Method {
	return []Method{{
		Name:      "system.listMethods",
		Help:      "Returns the names of all methods.",
		Signature: [][]string{{"array"}},
		Do:        h.listMethods,
	}, {
		Name:      "system.methodHelp",
		Help:      "Returns a description of the named method.",
		Signature: [][]string{{"string", "string"}},
		Do:        h.methodHelp,
	}, {
		Name: "system.methodSignature",
		Help: "Returns the signatures of the named method, each an array of " +
			"the result's type and the parameters' types, or the string \"undef\" if none is declared.",
		Signature: [][]string{{"array", "string"}},
		Do:        h.methodSignature,
	}, {
		Name: "system.multicall",
		Help: fmt.Sprintf("Runs up to %d calls, given as an array of structs with methodName and params. "+
			"The response has an array with the one result, or a struct with faultCode and faultString, for each call. "+
			"After a failed log-in the remaining calls are not executed.", MaxCalls),
		Signature: [][]string{{"array", "array"}},
		Do:        h.multicall,
	}}
}

func (h *Handler) listMethods(_ context.Context, params []any) (any, error) {
	if len(params) != 0 {
		return nil, fmt.Errorf("%w: system.listMethods has no parameters", ErrParams)
	}
	names := make([]string, 0, len(h.Methods)+4)
	for _, m := range slices.Concat(h.Methods, h.systemMethods()) {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (h *Handler) methodHelp(_ context.Context, params []any) (any, error) {
	m, err := h.named("system.methodHelp", params)
	if err != nil {
		return nil, err
	}
	return m.Help, nil
}

func (h *Handler) methodSignature(_ context.Context, params []any) (any, error) {
	m, err := h.named("system.methodSignature", params)
	if err != nil {
		return nil, err
	}
	if len(m.Signature) == 0 {
		return "undef", nil
	}
	return m.Signature, nil
}

func (h *Handler) named(caller string, params []any) (*Method, error) {
	if len(params) != 1 {
		return nil, fmt.Errorf("%w: %s has one parameter, the name of a method", ErrParams, caller)
	}
	name, ok := params[0].(string)
	if !ok {
		return nil, fmt.Errorf("%w: the name of a method must be a string", ErrParams)
	}
	if i := slices.IndexFunc(h.Methods, func(m Method) bool { return m.Name == name }); i >= 0 {
		return &h.Methods[i], nil
	}
	if m := h.system(name); m != nil {
		return m, nil
	}
	return nil, &Fault{Code: CodeNoMethod, String: fmt.Sprintf("There is no method %.100q here.", name)}
}

// multicall runs the calls in order and returns the results in the same order. After a failed
// log-in it does not run the remaining calls: otherwise a batch could try many passwords in one
// request.
func (h *Handler) multicall(ctx context.Context, params []any) (any, error) {
	if len(params) != 1 {
		return nil, fmt.Errorf("%w: system.multicall has one parameter, an array of calls", ErrParams)
	}
	list, ok := params[0].([]any)
	if !ok {
		return nil, fmt.Errorf("%w: system.multicall takes an array of calls", ErrParams)
	}
	if len(list) > MaxCalls {
		return nil, fmt.Errorf("%w: %d calls in one system.multicall, at most %d are accepted",
			ErrParams, len(list), MaxCalls)
	}
	results := make([]any, 0, len(list))
	locked := false
	for _, entry := range list {
		switch {
		case locked:
			results = append(results, faultValue(&Fault{Code: CodeLogin,
				String: "Not executed, because the log-in of an earlier call failed."}))
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		name, v, err := h.entry(ctx, entry)
		if err != nil {
			locked = errors.Is(err, ErrLogin)
			results = append(results, faultValue(h.fault(ctx, name, err)))
			continue
		}
		results = append(results, []any{v})
	}
	return results, nil
}

// entry runs one call of a batch.
func (h *Handler) entry(ctx context.Context, entry any) (name string, v any, err error) {
	fields, ok := entry.(map[string]any)
	if !ok {
		return "", nil, fmt.Errorf("%w: a call in system.multicall must be a struct", ErrParams)
	}
	name, ok = fields["methodName"].(string)
	if !ok {
		return "", nil, fmt.Errorf("%w: a call in system.multicall must have a methodName", ErrParams)
	}
	if name == "system.multicall" {
		return name, nil, fmt.Errorf("%w: system.multicall cannot be called inside itself", ErrParams)
	}
	var args []any
	if given, there := fields["params"]; there {
		if args, ok = given.([]any); !ok {
			return name, nil, fmt.Errorf("%w: the params of a call in system.multicall must be an array", ErrParams)
		}
	}
	v, err = h.dispatch(ctx, Call{Method: name, Params: args})
	if err != nil {
		return name, nil, err
	}
	// A result that cannot be written must not fail the whole batch.
	if _, err := MarshalResponse([]any{[]any{v}}); err != nil {
		return name, nil, fmt.Errorf("result cannot be written: %w", err)
	}
	return name, v, nil
}
