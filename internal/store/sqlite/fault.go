package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"syscall"
	"time"

	"modernc.org/sqlite"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub/record"
)

// SQLite's primary result codes that we tell apart.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// codeOf is the (extended) result code of an SQLite error in err's chain, 0 if there is none.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// retryAfter is what we ask of callers while the database cannot be written to.
const retryAfter = 5 * time.Second

// translate turns the database's troubles into faults. What is none of its
// troubles stays as it is.
func translate(err error, dir string) error {
	if err == nil || errors.Is(err, record.ErrLost) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	msg := ""
	switch codeOf(err) & 0xff {
	case codeFull:
		msg = "There is no room left on the server's disk; it goes on by itself when there is."
	case codeReadOnly, codeCantOpen:
		msg = "The server's database cannot be written to at the moment."
	case codeIO:
		msg = "The server's disk reports an error."
	case codeBusy, codeLocked:
		msg = "The server's database is busy; please try again."
	case codeCorrupt, codeNotADB:
		msg = "The server's database is damaged."
	default:
		switch {
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			msg = "There is no room left on the server's disk; it goes on by itself when there is."
		case errors.Is(err, errClosed), errors.Is(err, sql.ErrConnDone):
			msg = "The server is stopping."
		default:
			return err
		}
	}
	return &fault.Error{Code: fault.Unavailable, Msg: msg, Err: errors.Join(err, errors.New("data folder "+dir)), RetryAfter: retryAfter}
}
