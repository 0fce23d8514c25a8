package packagetest

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cloudburst/internal/config"
)

func TestDebianPackageInstallsAndRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not here")
	}
	dir := t.TempDir()
	deb := filepath.Join(dir, "cloudburst.deb")
	arch := strings.TrimSpace(run(t, nil, "dpkg", "--print-architecture"))
	run(t, nil, "packaging/deb.sh", program(t), arch, deb)
	root, control := filepath.Join(dir, "root"), filepath.Join(dir, "control")
	run(t, nil, "dpkg-deb", "-x", deb, root)
	run(t, nil, "dpkg-deb", "-e", deb, control)

	printed := run(t, nil, filepath.Join(root, "usr/bin/cloudburst"), "version")
	version := strings.TrimSpace(run(t, nil, "dpkg-deb", "-f", deb, "Version"))
	if !strings.HasPrefix(printed, "cloudburst "+version+" ") {
		t.Errorf("the package has version %s, its program prints %s", version, printed)
	}
	if conf, err := os.ReadFile(filepath.Join(control, "conffiles")); err != nil || strings.TrimSpace(string(conf)) != "/etc/cloudburst/cloudburst.toml" {
		t.Errorf("conffiles %q, %v", conf, err)
	}
	run(t, nil, filepath.Join(root, "usr/bin/cloudburst"), "config", "--config", filepath.Join(root, "etc/cloudburst/cloudburst.toml"))
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		run(t, nil, "sh", "-n", filepath.Join(control, script))
	}
	for _, name := range []string{
		"usr/lib/systemd/system/cloudburst.service", "usr/lib/systemd/system/cloudburst.socket", "usr/share/man/man1/cloudburst.1.gz",
		"usr/share/bash-completion/completions/cloudburst", "usr/share/doc/cloudburst/copyright", "usr/share/doc/cloudburst/LICENCES.gz",
	} {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSystemdUnitsMatchTheProgram(t *testing.T) {
	t.Parallel()
	unit := read(t, "packaging/systemd/cloudburst.service")
	for _, want := range []string{"Type=notify\n", "WatchdogSec=", "ExecStart=/usr/bin/cloudburst serve ", "ProtectSystem=strict\n", "NoNewPrivileges=yes\n", "MemoryDenyWriteExecute=yes\n", "SystemCallFilter=@system-service\n", "StateDirectory=cloudburst\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the service has no %q", want)
		}
	}
	for file, name := range map[string]string{"cloudburst.socket": "public", "cloudburst-admin.socket": "admin", "cloudburst-http.socket": "http"} {
		text := read(t, "packaging/systemd/"+file)
		if !strings.Contains(text, "FileDescriptorName="+name+"\nService=cloudburst.service\n") {
			t.Errorf("%s does not pass the socket %s", file, name)
		}
		if !strings.Contains(read(t, "internal/app/listeners.go"), `ctx, "`+name+`",`) {
			t.Errorf("the program does not accept the socket %s", name)
		}
	}
}

// The daily backup of docs/guides/backup.md must work with the service, which can write only a few
// folders.
func TestServiceCanWriteTheDocumentedBackups(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^cloudburst backup --keep \d+ (/\S+)$`).FindStringSubmatch(read(t, "docs/guides/backup.md"))
	if m == nil {
		t.Fatal("the guide has no daily backup")
	}
	for file, want := range map[string]string{
		"packaging/systemd/cloudburst.service": "ReadWritePaths=-" + m[1] + "\n",
		"packaging/deb/postinst":               "install -d -o cloudburst -g cloudburst -m 0700 " + m[1] + "\n",
	} {
		if !strings.Contains(read(t, file), want) {
			t.Errorf("%s has no %q", file, want)
		}
	}
}

func TestProxyConfigurationAcceptsTheLargestUpload(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`client_max_body_size (\d+)m;`).FindStringSubmatch(read(t, "docs/guides/nodes.md"))
	if m == nil {
		t.Fatal("the guide has no client_max_body_size")
	}
	n, err := strconv.Atoi(m[1])
	if most := config.Default().Media.MaxSize; err != nil || n<<20 <= most {
		t.Errorf("nginx accepts %d MiB (%v), but the server %d bytes and the form around them", n, err, most)
	}
}

func TestBillOfMaterialsListsEveryModule(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal([]byte(run(t, nil, "go", "run", "./packaging/sbom", program(t))), &bom); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, c := range bom.Components {
		got = append(got, c.Name+" "+c.Version)
	}
	want = append(want, "std "+strings.TrimPrefix(info.GoVersion, "go"))
	for _, m := range info.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	if !slices.Equal(got, want) || bom.BOMFormat != "CycloneDX" || len(want) < 20 {
		t.Errorf("the file lists %v\nthe program contains %v", got, want)
	}
	licences := run(t, nil, "packaging/licences.sh")
	for _, m := range info.Deps {
		if !regexp.MustCompile(`(?m)^==== ` + regexp.QuoteMeta(m.Path) + " ").MatchString(licences) {
			t.Errorf("the licences lack that of %s", m.Path)
		}
	}
}
