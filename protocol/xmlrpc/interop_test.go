package xmlrpc

import (
	"bufio"
	"errors"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fulltest"
)

func python(t *testing.T) string {
	t.Helper()
	fulltest.Needs(t, "another language")
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 not found: install the package python3")
	}
	return path
}

func TestPythonClientCallsTheHandler(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(server(t))
	defer srv.Close()
	out, err := exec.CommandContext(t.Context(), python(t), "testdata/client.py", srv.URL+"/RPC2").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "ok" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestClientCallsAPythonServer(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), python(t), "testdata/server.py")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The server runs until it is killed, so its exit status is not checked.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("Python's server printed %q: %v", port, err)
	}
	c := &Client{URL: "http://127.0.0.1:" + strings.TrimSpace(port) + "/RPC2"}

	when := time.Date(1998, 7, 17, 14, 8, 55, 0, time.UTC)
	values := []any{
		int64(-7), "a <b> & é 名前 😀", "line\nline\ttab", "", true, false, 1.5, -1e20, when,
		[]byte{0, 255}, nil, []any{}, []any{int64(1), []any{"a"}}, map[string]any{"é <&>": map[string]any{"x": nil}},
	}
	// The values contain no numbers of more than 32 bits, which Python reads but does not write,
	// and no carriage returns, which Python writes unescaped.
	got, err := c.Call(t.Context(), "echo", values...)
	if diff := cmp.Diff(values, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for want, v := range map[string]any{"int": int64(5000000000), "datetime": when, "bytes": []byte("x"), "NoneType": nil, "bool": true, "float": 1.0} {
		if got, err := c.Call(t.Context(), "kind", v); got != want {
			t.Errorf("%v is %v to Python, want %s: %v", v, got, want, err)
		}
	}
	_, err = c.Call(t.Context(), "fail")
	var f *Fault
	if !errors.As(err, &f) || f.Code != 9 || f.String != "café <closed>" {
		t.Errorf("got %v", err)
	}
	names, err := c.Call(t.Context(), "system.listMethods")
	if list, ok := Strings(names); !ok || !slices.Contains(list, "echo") {
		t.Errorf("got %v, %v", names, err)
	}
	got, err = c.Call(t.Context(), "system.multicall", []any{
		map[string]any{"methodName": "echo", "params": []any{"x"}},
		map[string]any{"methodName": "fail", "params": []any{}},
	})
	want := []any{[]any{[]any{"x"}}, map[string]any{"faultCode": int64(9), "faultString": "café <closed>"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
