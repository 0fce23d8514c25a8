package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cloudburst/client"
)

// TestRecordedExchangesOfClients sends what real programs sent, byte for byte, to the whole program,
// and compares the answers with those that the programs worked with. testdata/exchanges has a
// file for each program. Its first part names the program; each further part, after a line
// "---", is a request, an empty line, and from "HTTP/1.1" on the answer. In an answer … stands
// for anything, and a {{name}} that has no value yet takes what is there; {{name%}} is the
// value as in a query. {{host}}, {{password}} and {{token}} have values from the start.
func TestRecordedExchangesOfClients(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, conf(t, t.TempDir()))
			token, err := r.addAlice().NewToken(t.Context(), "alice", client.TokenRequest{Label: "app", Scopes: []string{"create", "update", "delete", "media", "read"}})
			if err != nil {
				t.Fatal(err)
			}
			x := &recorded{host: strings.TrimPrefix(r.base, "http://"), known: map[string]string{"password": alicePassword, "token": token.Token}}
			x.known["host"] = x.host
			parts := strings.Split(string(doc), "\n---\n")
			if len(parts) < 2 {
				t.Fatal("there is no exchange")
			}
			for i, part := range parts[1:] {
				if err := x.exchange(strings.TrimSpace(part)); err != nil {
					t.Fatalf("exchange %d, %s: %v", i+1, strings.SplitN(part, "\n", 2)[0], err)
				}
			}
		})
	}
}

type recorded struct {
	host  string
	known map[string]string
}

var placeholder = regexp.MustCompile(`\{\{([a-z0-9]+)(%?)\}\}`)

// filled puts values for the placeholders of a request.
func (x *recorded) filled(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		if m[2] == "%" {
			return strings.NewReplacer(":", "%3A", "/", "%2F").Replace(x.known[m[1]])
		}
		return x.known[m[1]]
	})
}

func (x *recorded) exchange(part string) error {
	request, answer, ok := strings.Cut(part, "\nHTTP/1.1 ")
	if !ok {
		return fmt.Errorf("there is no answer")
	}
	head, body, _ := strings.Cut(x.filled(request), "\n\n")
	body = strings.TrimRight(body, "\n")
	head = strings.TrimRight(head, "\n") + fmt.Sprintf("\nContent-Length: %d\nConnection: close", len(body))
	conn, err := net.Dial("tcp", x.host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(mostWait)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+body); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return x.compare(answer, res, string(got))
}

func (x *recorded) compare(want string, res *http.Response, got string) error {
	head, body, _ := strings.Cut(want, "\n\n")
	lines := strings.Split(head, "\n")
	if !strings.HasPrefix(res.Status, strings.TrimSpace(lines[0])) {
		return fmt.Errorf("the status is %s, not %s: %.2000s", res.Status, lines[0], got)
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if err := x.alike(name, strings.TrimSpace(value), res.Header.Get(name)); err != nil {
			return err
		}
	}
	if body = strings.TrimSpace(body); body == "" {
		return nil
	}
	return x.alike("body", body, strings.TrimSpace(got))
}

// alike compares a text with what is recorded, and learns the values of new placeholders.
func (x *recorded) alike(what, want, got string) error {
	var learned []string
	pattern, at := "(?s)^", 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		name := want[m[2]:m[3]]
		pattern += anything(want[at:m[0]])
		if _, ok := x.known[name]; ok {
			pattern += regexp.QuoteMeta(x.filled(want[m[0]:m[1]]))
		} else {
			pattern += `([^\s"'<>&]+)`
			learned = append(learned, name)
		}
		at = m[1]
	}
	match := regexp.MustCompile(pattern + anything(want[at:]) + "$").FindStringSubmatch(got)
	if match == nil {
		return fmt.Errorf("the %s is\n%s\nand not\n%s", what, got, x.filled(want))
	}
	for i, name := range learned {
		x.known[name] = match[i+1]
	}
	return nil
}

// anything is a pattern of a text in which … stands for anything.
func anything(s string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(s), "…", ".*?")
}
