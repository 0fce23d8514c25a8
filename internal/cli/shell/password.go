package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// PasswordHelp says where a command takes a password from.
const PasswordHelp = `The password is asked for twice on a terminal, without showing it; elsewhere it is the
first line of standard input, or what is in --password-file without the line end
behind it. It is never an argument, which other users of the machine could read.`

// maxPassword is how many bytes are read of one: the server takes less.
const maxPassword = 4096

// PasswordFileFlag adds the flag for a file with a password.
func PasswordFileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "password-file", "", "`file` that holds the password; - is standard input")
}

// NewPassword gets the password that a user is to have.
func (p *Shell) NewPassword(ctx context.Context, user, file string) (string, error) {
	in, ok := p.In.(*os.File)
	switch {
	case file != "" && file != "-":
		return passwordIn(file)
	case file == "" && ok && IsTerminal(in):
		return p.askPassword(ctx, in, user)
	case file == "-":
		return soon(ctx, func() (string, error) { return readPassword(p.In) })
	}
	return soon(ctx, func() (string, error) {
		line, err := bufio.NewReader(io.LimitReader(p.In, maxPassword+1)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("the password cannot be read from standard input: %w", err)
		}
		return fitPassword(line)
	})
}

func passwordIn(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the password file %s cannot be read: %w", file, PlainPathError(err))
	}
	defer f.Close()
	password, err := readPassword(f)
	if err != nil {
		return "", fmt.Errorf("the password file %s: %w", file, PlainPathError(err))
	}
	return password, nil
}

func readPassword(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxPassword+1))
	if err != nil {
		return "", err
	}
	return fitPassword(string(b))
}

// fitPassword takes the line end from what was read.
func fitPassword(text string) (string, error) {
	if len(text) > maxPassword {
		return "", fmt.Errorf("a password has at most %d bytes", maxPassword)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case text == "":
		return "", errors.New("there is no password: it is empty")
	case !utf8.ValidString(text):
		// On its way it would become another one.
		return "", errors.New("the password is not UTF-8: write it in that encoding, or in plain ASCII")
	}
	return text, nil
}

// askPassword asks a person twice, without showing what is typed.
func (p *Shell) askPassword(ctx context.Context, in *os.File, user string) (string, error) {
	return p.AskHidden(ctx, in, func(ask func(string) (string, error)) (string, error) {
		first, err := ask("Password for " + user + ": ")
		if err != nil {
			return "", err
		}
		again, err := ask("The same once more: ")
		if err == nil && again != first {
			err = errors.New("the two passwords differ: nothing was changed")
		}
		return first, err
	})
}

// AskHidden lets questions ask a person on the terminal, without showing what is typed.
func (p *Shell) AskHidden(ctx context.Context, in *os.File, questions func(ask func(what string) (string, error)) (string, error)) (string, error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("the terminal cannot be read: %w", err)
	}
	answer, err := soon(ctx, func() (string, error) {
		return questions(func(what string) (string, error) {
			fmt.Fprint(p.Err, what)
			b, err := term.ReadPassword(fd)
			fmt.Fprintln(p.Err)
			if err != nil && !errors.Is(err, io.EOF) {
				return "", fmt.Errorf("the terminal cannot be read: %w", err)
			}
			return fitPassword(string(b))
		})
	})
	if ctx.Err() != nil {
		// Restore the echo of the terminal after an interrupt.
		_ = term.Restore(fd, before)
		fmt.Fprintln(p.Err)
	}
	return answer, err
}

// soon is what read gives, or the end of ctx: nothing else ends the wait for somebody
// who types.
func soon(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
