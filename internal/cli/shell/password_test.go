package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPasswordIsReadWithoutChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text             string
		file, line, fail string
	}{
		{text: "correct horse\n", file: "correct horse", line: "correct horse"},
		{text: "correct horse", file: "correct horse", line: "correct horse"},
		{text: " spaced \r\n", file: " spaced ", line: " spaced "},
		{text: "two\nlines\n", file: "two\nlines", line: "two"},
		{text: "one\n\n", file: "one\n", line: "one"},
		{text: "\n", fail: "is empty"},
		{text: "", fail: "is empty"},
		{text: "p\xe4ssword\n", fail: "not UTF-8"},
		{text: "pässword\n", file: "pässword", line: "pässword"},
		{text: strings.Repeat("x", maxPassword+1), fail: "longer than 4096 bytes"},
	} {
		file := filepath.Join(t.TempDir(), "pw")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, way := range []struct{ in, file, want string }{
			{"", file, tt.file}, {tt.text, "-", tt.file}, {tt.text, "", tt.line},
		} {
			p := &Shell{In: strings.NewReader(way.in), Err: io.Discard}
			got, err := p.NewPassword(t.Context(), "alice", way.file)
			if tt.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fail) {
					t.Errorf("%.20q as %.3q: %q, %v", tt.text, way.file, got, err)
				}
			} else if err != nil || got != way.want {
				t.Errorf("%.20q as %.3q: %q, want %q, %v", tt.text, way.file, got, way.want, err)
			}
		}
	}
	p := &Shell{In: strings.NewReader(""), Err: io.Discard}
	if _, err := p.NewPassword(t.Context(), "alice", "nowhere/pw"); err == nil || err.Error() != "the password file nowhere/pw cannot be read: no such file or directory" {
		t.Error(err)
	}
}

func TestPasswordPromptEndsIfTheContextIsCancelled(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &Shell{In: r, Err: io.Discard}
	if _, err := p.NewPassword(ctx, "alice", ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
