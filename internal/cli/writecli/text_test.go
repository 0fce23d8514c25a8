package writecli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/cli/shell"
)

// run runs one command line and returns its outputs and its exit code.
func run(t *testing.T, in string, args ...string) (out, reported string, code int) {
	t.Helper()
	var o, e strings.Builder
	p := &shell.Shell{In: strings.NewReader(in), Out: &o, Err: &e, Version: "1"}
	root := p.Root("cloudburst", "", "")
	root.AddCommand(Commands(p)...)
	code = shell.Execute(t.Context(), root, args, &e)
	return o.String(), e.String(), code
}

func TestTextsThatAreNotUTF8AreRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := filepath.Join(dir, "rss.xml")
	publish := []string{"publish", "--to", to, "--url", "http://a.example/rss.xml", "--no-ping"}
	post := []string{"post", "--user", "alice", "--draft", "--data", filepath.Join(dir, "data")}
	for _, command := range [][]string{publish, post} {
		for _, one := range []struct {
			in, want string
			args     []string
		}{
			{"caf\xe9 cr\xe8me", "standard input is not UTF-8 (byte 0xE9 at offset 3)", []string{"-"}},
			{"\xff\xfeh\x00", "standard input is not UTF-8 (byte 0xFF at offset 0)", []string{"-"}},
			{"", "the text is not UTF-8 (byte 0xE9 at offset 3)", []string{"caf\xe9"}},
			{"", "--title is not UTF-8 (byte 0xE9 at offset 6)", []string{"-t", "é \uFFFD\xe9", "x"}},
			{"", "--category is not UTF-8 (byte 0xE9 at offset 0)", []string{"-c", "a", "-c", "\xe9", "x"}},
		} {
			out, reported, code := run(t, one.in, append(command, one.args...)...)
			if code != shell.ExitFailure || out != "" || !strings.HasPrefix(reported, "cloudburst: "+one.want+": ") {
				t.Errorf("%s %q: exit %d, %q %q; want %q", command[0], one.args, code, out, reported, one.want)
			}
		}
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("a rejected text has created the feed")
	}
	if out, reported, code := run(t, "café \uFFFD", append(publish, "-")...); code != shell.ExitOK || reported != "" {
		t.Errorf("a text in UTF-8: exit %d, %q %q", code, out, reported)
	}
}
