package packagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script only checks commits that are newer than the script. Therefore the test creates a
// repository that contains the script, and then adds one commit for each subject.
func TestCommitSubjectsAreChecked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many git processes")
	}
	script, err := os.ReadFile("../../packaging/subjects.sh")
	if err != nil {
		t.Fatal(err)
	}
	long := "hub: " + strings.Repeat("say ", 17) + "so"
	for subject, want := range map[string]string{
		"hub: share per-host limits across nodes":  "",
		"README, docs/hub: state the default port": "",
		"feed/*: embed the list of entities":       "",
		"river: process items in batches":          "",
		"hub: shared limits across nodes":          `not "shared"`,
		"hub: sharing limits across nodes":         `not "sharing"`,
		"hub: shares limits across nodes":          `not "shares"`,
		"hub: Share limits":                        `not "Share"`,
		"share limits across nodes":                "is not \"package: verb object\"",
		"hub: share":                               "is not \"package: verb object\"",
		long:                                       "the limit is 72",
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "packaging"), 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "packaging", "subjects.sh")
		if err := os.WriteFile(file, script, 0o755); err != nil {
			t.Fatal(err)
		}
		git := func(args ...string) {
			t.Helper()
			c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s", args, err, out)
			}
		}
		git("init", "-q")
		git("add", "-A")
		git("commit", "-q", "-m", "Anything before the check")
		git("commit", "-q", "--allow-empty", "-m", subject)
		out, err := exec.CommandContext(t.Context(), file).CombinedOutput()
		switch {
		case want == "" && (err != nil || !strings.Contains(string(out), "subjects: 1 checked")):
			t.Errorf("%q is rejected: %v\n%s", subject, err, out)
		case want != "" && (err == nil || !strings.Contains(string(out), want)):
			t.Errorf("%q: %v\n%swant an error with %s", subject, err, out, want)
		}
	}
}
