package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"modernc.org/sqlite"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub/record"
)

// Primary result codes of SQLite that need different treatment.
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

// codeOf returns the extended result code of an SQLite error in err's chain, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// retryAfter is the delay that clients are asked to wait while the database is not writable.
const retryAfter = 5 * time.Second

// translate converts database errors to faults. It returns other errors unchanged.
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
		msg = fault.DiskFull
	case codeReadOnly, codeCantOpen:
		msg = "The server's database is currently not writable."
	case codeIO:
		msg = "The server's disk reports an error."
	case codeBusy, codeLocked:
		msg = "The server's database is busy; please try again."
	case codeCorrupt, codeNotADB:
		msg = "The server's database is damaged."
	default:
		switch {
		case fault.IsDiskFull(err):
			msg = fault.DiskFull
		case errors.Is(err, errClosed), errors.Is(err, sql.ErrConnDone):
			msg = "The server is stopping."
		default:
			return err
		}
	}
	return &fault.Error{Code: fault.Unavailable, Msg: msg, Err: errors.Join(err, errors.New("data folder "+dir)), RetryAfter: retryAfter}
}
