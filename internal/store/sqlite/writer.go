package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"cloudburst/internal/store/sqldb"
)

// maxBatch is the maximum number of operations in one transaction.
const maxBatch = 256

var errClosed = errors.New("sqlite: the store is closed")

// operation is one function to run in a write transaction.
type operation struct {
	fn    func(ctx context.Context, c sqldb.Conn) error
	taken atomic.Bool // set by the writer that starts the operation, or by the caller that withdraws it
	done  chan error
}

// writer runs operations one after the other. It combines all queued operations into one
// transaction.
type writer struct {
	conn  *sql.Conn
	stmts *statements
	begin *sql.Stmt
	end   *sql.Stmt
	undo  *sql.Stmt

	around func(commit func() error) error // Options.Commit

	shown atomic.Uint64 // number of transactions that may have changed what pages of authors show

	counted atomic.Uint64 // number of transactions that may have changed unread counts

	operations chan *operation
	stopping   chan struct{} // closed when no more operations are accepted
	stopped    chan struct{} // closed when the last operation is done
	stop       sync.Once
}

func newWriter(ctx context.Context, db *sql.DB, d *sqldb.Dialect, commit func(commit func() error) error) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, around: commit, operations: make(chan *operation, 4*maxBatch), stopping: make(chan struct{}), stopped: make(chan struct{})}
	w.stmts = &statements{dialect: d, prepare: conn.PrepareContext, known: map[string]prepared{}}
	for text, stmt := range map[string]**sql.Stmt{"BEGIN IMMEDIATE": &w.begin, "COMMIT": &w.end, "ROLLBACK": &w.undo} {
		if *stmt, err = conn.PrepareContext(ctx, text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	go w.run()
	return w, nil
}

// write passes fn to the writer and waits for the result. If the context ends before fn starts, the
// caller withdraws fn. Once fn has started, the caller waits regardless of the context.
func (w *writer) write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &operation{fn: fn, done: make(chan error, 1)}
	select {
	case <-w.stopping: // check this first: select could accept an operation on a closed store
		return errClosed
	default:
	}
	select {
	case w.operations <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopping:
		return errClosed
	}
	select {
	case err := <-op.done:
		return err
	case <-ctx.Done():
		if op.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return w.await(op)
	case <-w.stopped:
		return w.await(op)
	}
}

// await waits for the result of a started operation. If the writer stops first, it returns an
// error.
func (w *writer) await(op *operation) error {
	select {
	case err := <-op.done:
		return err
	case <-w.stopped:
	}
	select {
	case err := <-op.done:
		return err
	default:
		return errClosed
	}
}

func (w *writer) close() error {
	w.stop.Do(func() { close(w.stopping) })
	<-w.stopped
	w.stmts.close()
	return errors.Join(w.begin.Close(), w.end.Close(), w.undo.Close(), w.conn.Close())
}

// run collects the queued operations, commits them and returns their results. It does not wait for
// more operations: the next batch queues up while this one is being synced.
func (w *writer) run() {
	defer close(w.stopped)
	batch := make([]*operation, 0, maxBatch)
	for {
		batch = batch[:0]
		select {
		case op := <-w.operations:
			batch = w.take(batch, op)
		case <-w.stopping:
			w.drain()
			return
		}
		batch = w.gather(batch)
		w.commit(batch)
	}
}

// drain runs the operations that were queued before the stop.
func (w *writer) drain() {
	for {
		batch := w.gather(nil)
		if len(batch) == 0 {
			return
		}
		w.commit(batch)
	}
}

func (w *writer) take(batch []*operation, op *operation) []*operation {
	if op.taken.CompareAndSwap(false, true) {
		return append(batch, op)
	}
	return batch
}

// gather adds the queued operations to the batch.
func (w *writer) gather(batch []*operation) []*operation {
	for len(batch) < maxBatch {
		select {
		case op := <-w.operations:
			batch = w.take(batch, op)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction. If that fails, no result was returned yet: the
// transaction is rolled back and each half is tried separately, until the failing operation is
// alone with its error.
func (w *writer) commit(batch []*operation) {
	if len(batch) == 0 {
		return
	}
	errs := make([]error, len(batch))
	err := w.try(batch, errs)
	switch {
	case err == nil:
		for i, op := range batch {
			op.done <- errs[i]
		}
	case len(batch) == 1:
		batch[0].done <- err
	default:
		w.commit(batch[:len(batch)/2])
		w.commit(batch[len(batch)/2:])
	}
}

// try runs a batch in one transaction. errs contains the errors of operations that failed before
// they wrote anything; these do not affect the others.
func (w *writer) try(batch []*operation, errs []error) error {
	ctx := context.Background() // an operation that has started is not cancelled
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	shown, counted := false, false
	defer func() { // deferred, so that it also runs after an error: the transaction may still have been committed
		if shown {
			w.shown.Add(1)
		}
		if counted {
			w.counted.Add(1)
		}
	}()
	for i, op := range batch {
		c := &conn{stmts: w.stmts}
		errs[i] = op.fn(ctx, c)
		shown, counted = shown || c.shown, counted || c.counted
		if errs[i] != nil && c.wrote {
			return w.rollback(ctx, errs[i])
		}
	}
	if err := w.endTransaction(ctx); err != nil {
		return w.rollback(ctx, err)
	}
	return nil
}

func (w *writer) endTransaction(ctx context.Context) error {
	commit := func() error {
		_, err := w.end.ExecContext(ctx)
		return err
	}
	if w.around != nil {
		return w.around(commit)
	}
	return commit()
}

// rollback ends the transaction; after some errors SQLite has already rolled back.
func (w *writer) rollback(ctx context.Context, err error) error {
	_, _ = w.undo.ExecContext(ctx) // the error "no transaction is active" is expected
	return err
}
