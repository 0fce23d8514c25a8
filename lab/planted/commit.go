package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// boundary returns a [store.Options.Commit] function for how. "before N" kills the process
// immediately before the N-th commit, "after N" immediately after it. "lose N" returns an error
// for the N-th commit although it succeeded. "count FILE" appends a byte to a file for each
// commit.
func boundary(how string) func(commit func() error) error {
	what, which, _ := strings.Cut(how, " ")
	at, _ := strconv.ParseInt(which, 10, 64)
	var commits atomic.Int64
	return func(commit func() error) error {
		now := commits.Add(1) == at
		if now && what == "before" {
			return die()
		}
		if err := commit(); err != nil {
			return err
		}
		switch {
		case what == "count":
			return count(which)
		case now && what == "after":
			return die()
		case now && what == "lose":
			return errors.New("the answer to COMMIT was lost")
		}
		return nil
	}
}

// count appends one byte to a file, whose size is then the number of commits.
func count(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("c")
	return errors.Join(err, f.Close())
}

// die kills this process with SIGKILL.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err == nil {
		select {} // wait for the signal, which arrives immediately
	}
	return err
}
