package packagetest

import (
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cloudburst/lab/outside"

	"go.yaml.in/yaml/v3"
)

// steps returns the instructions of a Dockerfile as pairs of name and arguments. It joins
// continued lines.
func steps(t *testing.T, name string) [][2]string {
	t.Helper()
	var all [][2]string
	for line := range strings.SplitSeq(strings.ReplaceAll(read(t, name), "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		all = append(all, [2]string{word, rest})
	}
	return all
}

// image contains the instructions of the last stage of a Dockerfile.
type image struct {
	from, user        string
	env               []string
	entry, cmd, check []string
	build             []string // arguments of the RUN instructions of earlier stages
}

func readImage(t *testing.T) image {
	t.Helper()
	var im image
	list := func(text string) (words []string) {
		if err := json.Unmarshal([]byte(text), &words); err != nil {
			t.Errorf("%s is not a JSON list of strings: %v", text, err)
		}
		return words
	}
	for _, s := range steps(t, "packaging/docker/Dockerfile") {
		switch s[0] {
		case "FROM":
			im.from = s[1]
		case "RUN":
			im.build = append(im.build, s[1])
		case "USER":
			im.user = s[1]
		case "ENV":
			if im.from == "scratch" {
				im.env = append(im.env, strings.Fields(s[1])...)
			}
		case "ENTRYPOINT":
			im.entry = list(s[1])
		case "CMD":
			im.cmd = list(s[1])
		case "HEALTHCHECK":
			im.check = list(s[1][strings.Index(s[1], "["):])
		case "WORKDIR", "COPY", "VOLUME", "EXPOSE", "STOPSIGNAL":
		default:
			t.Errorf("the Dockerfile has the instruction %s, which this test does not support", s[0])
		}
	}
	return im
}

// The test creates the root folder of the image without a container runtime. It runs the program
// in this folder with the image's user, environment and command.
func TestProgramRunsInTheContainerImage(t *testing.T) {
	t.Parallel()
	im := readImage(t)
	if im.from != "scratch" || im.user != "65532:65532" || !strings.Contains(strings.Join(im.build, "\n"), "go build -trimpath -ldflags='-s -w -buildid=' -o /out/cloudburst ./cmd/cloudburst") {
		t.Fatalf("the image is %+v", im)
	}
	f, err := elf.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
		t.Errorf("the program imports the libraries %v, %v", libs, err)
	}
	for _, s := range f.Sections {
		if s.Name == ".symtab" || strings.HasPrefix(s.Name, ".debug_") {
			t.Errorf("the program has a section %s of %d bytes, which only debuggers use", s.Name, s.Size)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("chroot needs root")
	}
	root := t.TempDir()
	for _, step := range []string{
		"mkdir -p " + root + "/out " + root + "/etc/ssl/certs && cp -L /etc/ssl/certs/ca-certificates.crt " + root + "/etc/ssl/certs/",
		"cp " + program(t) + " " + root + "/cloudburst && mkdir " + root + "/data " + root + "/tmp && chmod 700 " + root + "/data && chmod 1777 " + root + "/tmp",
		"rmdir " + root + "/out && chown -R 65532:65532 " + root + "/cloudburst " + root + "/data && chmod 755 " + root,
	} {
		run(t, nil, "sh", "-c", step)
	}
	inside := func(words ...string) *exec.Cmd {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		cmd.Env = slices.Clone(im.env)
		cmd.Stderr = t.Output()
		return cmd
	}
	// The server uses free ports, because other programs share the network with this test.
	serve := inside(slices.Concat(im.entry, im.cmd, []string{"--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0"})...)
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = serve.Process.Kill() }() // an error means that the process has already ended
	outside.Until(t, "the server is healthy", func() bool {
		check := inside(im.check...)
		check.Stderr = io.Discard
		return check.Run() == nil
	})
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if inside(im.check...).Run() == nil {
		t.Error("the health check succeeds after the end of the server")
	}
	if _, err := os.Stat(filepath.Join(root, "data", "cloudburst.db")); err != nil {
		t.Error(err)
	}
}

func TestComposeFileConfiguresTheProgram(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
			DependsOn   any `yaml:"depends_on"`
			Volumes     []string
			Networks    []string
		}
		Networks, Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(read(t, "packaging/docker/compose.yaml")), &compose); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"CLOUDBURST_NAME": "hub.example.org", "POSTGRES_PASSWORD": "abc", "CLOUDBURST_SECRET_KEY": "0123456789abcdef"}
	variable := regexp.MustCompile(`\$\{(\w+):\?\}`)
	caddy := read(t, "packaging/docker/Caddyfile")
	for _, node := range []string{"node1", "node2"} {
		s, ok := compose.Services[node]
		if !ok || !strings.Contains(caddy, node+":5337") {
			t.Errorf("the service %s is missing in the compose file or in the Caddyfile", node)
		}
		var env []string
		for name, value := range s.Environment {
			env = append(env, name+"="+variable.ReplaceAllStringFunc(value, func(v string) string { return given[variable.FindStringSubmatch(v)[1]] }))
		}
		cmd := exec.CommandContext(t.Context(), program(t), "config")
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", node, err, out)
		}
		for _, want := range []string{`public-url = "https://hub.example.org"`, "172.31.53.0/24"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the configuration of %s lacks %s", node, want)
			}
		}
	}
	for name, s := range compose.Services {
		for _, v := range s.Volumes {
			if from, _, _ := strings.Cut(v, ":"); !strings.HasPrefix(from, "./") {
				if _, ok := compose.Volumes[from]; !ok {
					t.Errorf("%s uses the volume %s, which is not declared", name, from)
				}
			}
		}
		for _, n := range s.Networks {
			if _, ok := compose.Networks[n]; !ok {
				t.Errorf("%s uses the network %s, which is not declared", name, n)
			}
		}
	}
}
