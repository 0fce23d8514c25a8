//go:build plantedbugs

package sqldb

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// commits is how many there were, in a build that is never shipped.
var commits atomic.Int64

// Boundary is the moment before a transaction is committed, or the one after. As
// CLOUDBURSTDIE says, it ends the process at the n-th (before N, after N), returns an
// error for one that was committed (lose N), or adds a byte to a file (count FILE).
func Boundary(committed bool) error {
	what, which, _ := strings.Cut(os.Getenv("CLOUDBURSTDIE"), " ")
	n := commits.Load()
	if !committed {
		n = commits.Add(1)
	}
	at, _ := strconv.ParseInt(which, 10, 64)
	switch {
	case what == "count" && committed:
		f, err := os.OpenFile(which, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString("c")
		return errors.Join(err, f.Close())
	case n != at:
	case what == "before" && !committed, what == "after" && committed:
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err == nil {
			select {} // it comes at once
		}
		return err
	case what == "lose" && committed:
		return errors.New("the answer to COMMIT was lost")
	}
	return nil
}
