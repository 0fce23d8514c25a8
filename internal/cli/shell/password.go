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

// PasswordHelp is the part of a command's help that explains how to enter a password.
const PasswordHelp = `On a terminal, the command prompts for the password twice and does not display it.
Otherwise it reads the first line of standard input, or the content of --password-file
without the final line break. A password is never an argument, because other users of
the machine can read arguments.`

// maxPassword is the maximum number of bytes of a password that the command reads. The server has a
// lower limit.
const maxPassword = 4096

// PasswordFileFlag adds the flag for a file with a password.
func PasswordFileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "password-file", "", "`file` that contains the password; - is standard input")
}

// NewPassword reads a new password for a user. It reads the file if file is set, otherwise the
// terminal or standard input.
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

// fitPassword returns a password without the line break. It returns an error if the password is too
// long or not UTF-8.
func fitPassword(text string) (string, error) {
	if len(text) > maxPassword {
		return "", fmt.Errorf("the password is longer than %d bytes", maxPassword)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case text == "":
		return "", errors.New("the password is empty")
	case !utf8.ValidString(text):
		// In JSON, invalid bytes would be replaced, so the password would change.
		return "", errors.New("the password is not UTF-8: write it in that encoding, or in plain ASCII")
	}
	return text, nil
}

// askPassword prompts for a password twice. The terminal does not display the input.
func (p *Shell) askPassword(ctx context.Context, in *os.File, user string) (string, error) {
	return p.AskHidden(ctx, in, func(ask func(string) (string, error)) (string, error) {
		first, err := ask("Password for " + user + ": ")
		if err != nil {
			return "", err
		}
		again, err := ask("Repeat the password: ")
		if err == nil && again != first {
			err = errors.New("the passwords do not match: nothing was changed")
		}
		return first, err
	})
}

// AskHidden runs questions. The function ask prints a prompt on the terminal and reads a line,
// which the terminal does not display.
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
		// After an interrupt, make the terminal display input again.
		_ = term.Restore(fd, before)
		fmt.Fprintln(p.Err)
	}
	return answer, err
}

// soon returns the result of read. It returns the error of ctx if ctx ends first, because a read
// from a terminal cannot be canceled.
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
