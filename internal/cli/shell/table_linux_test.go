package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// terminal opens a pseudo-terminal. A test reads from screen what the program writes to tty.
func terminal(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal is available: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	control := func(request uintptr, value *uint32) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	var number, unlocked uint32
	control(syscall.TIOCGPTN, &number)
	control(syscall.TIOCSPTLCK, &unlocked)
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return screen, tty
}

func TestTableHasHeadingOnlyOnTerminal(t *testing.T) {
	t.Parallel()
	fill := func(tab *Table) {
		t.Helper()
		for _, row := range [][]string{{"ok", "A feed", "http://a.example/"}, {"failing", "B", "http://b.example/"}} {
			if err := tab.Row(row...); err != nil {
				t.Fatal(err)
			}
		}
		if err := tab.End(); err != nil {
			t.Fatal(err)
		}
	}
	var piped bytes.Buffer
	fill(NewTable(&piped, "STATE", "TITLE", "URL"))
	if want := "ok\tA feed\thttp://a.example/\nfailing\tB\thttp://b.example/\n"; piped.String() != want {
		t.Errorf("without a terminal: %q, want %q", &piped, want)
	}
	screen, tty := terminal(t)
	fill(NewTable(tty, "STATE", "TITLE", "URL"))
	const want = "STATE    TITLE   URL\r\nok       A feed  http://a.example/\r\nfailing  B       http://b.example/\r\n"
	wantScreen(t, screen, want)
}

// wantScreen waits until the screen has as many bytes as want, and compares them.
func wantScreen(t *testing.T, screen *os.File, want string) {
	t.Helper()
	shown := make([]byte, len(want))
	if _, err := io.ReadFull(screen, shown); err != nil {
		t.Fatal(err)
	}
	if string(shown) != want {
		t.Errorf("on a terminal: %q, want %q", shown, want)
	}
}

func TestRowsBeforeAnErrorArePrintedOnTerminal(t *testing.T) {
	t.Parallel()
	failure := errors.New("the second page failed")
	list := func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", failure) }
	screen, tty := terminal(t)
	if err := PrintList(tty, list, false, []string{"A", "B"}, func(s *string) []string { return []string{*s, "b"} }); !errors.Is(err, failure) {
		t.Error(err)
	}
	fmt.Fprintln(tty, "end of list") // without rows, the screen shows this text instead
	wantScreen(t, screen, "A  B\r\na  b\r\n")
}
