package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cloudburst/internal/fault"
)

// A backup is an SQLite database followed by one line: the SHA-256 of all bytes before that line.
// SQLite ignores data after the last page. The application ID in the database header states that
// the line exists. Without the ID, a truncated backup would look like a backup of an earlier
// version, which has neither ID nor line.
const (
	sealBefore = "\ncloudburst backup, sha256 of all before this line: "
	sealAfter  = "\n"
	sealSize   = len(sealBefore) + 2*sha256.Size + len(sealAfter)

	sealedID     = "clbk" // 0x636c626b as PRAGMA application_id prints it
	sealedOffset = 68     // offset of the application ID in the database header
)

// seal turns the copy of a database into a backup. It sets the application ID, appends the line,
// and reads the whole file back from disk.
//
// spec:cloudburst#backup-complete
func seal(ctx context.Context, file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(sealedID), sealedOffset); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	sum, err := sumOf(ctx, f, size)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(sealBefore+sum+sealAfter), size); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	uncache(f)
	_, err = unseal(ctx, f, file)
	return err
}

// Verify compares the content of a backup with its embedded SHA-256 and returns the sum. The sum is
// "" for files without one, from an earlier version or another program. A damaged backup is
// fault.Unavailable.
func Verify(ctx context.Context, file string) (sum string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, err, "The file %s cannot be read.", file)
	}
	defer f.Close()
	return unseal(ctx, f, file)
}

// unseal is like Verify for an open file.
func unseal(ctx context.Context, f *os.File, name string) (sum string, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	carried, err := lineOf(f, size)
	if err != nil {
		return "", err
	}
	if carried == "" {
		marked, err := isMarked(f)
		if err == nil && marked {
			err = fault.New(fault.Unavailable, "The backup %s is damaged: its last line with the SHA-256 of its content is missing or changed. Use another backup.", name)
		}
		return "", err
	}
	if sum, err = sumOf(ctx, f, size-int64(sealSize)); err != nil {
		return "", err
	}
	if sum != carried {
		return "", fault.New(fault.Unavailable, "The backup %s is damaged: its content has the SHA-256 %s, and when it was written it had %s. Use another backup.", name, sum, carried)
	}
	return sum, nil
}

// lineOf returns the SHA-256 in the last line, or "" if there is no such line.
func lineOf(f io.ReaderAt, size int64) (string, error) {
	if size < int64(sealSize) {
		return "", nil
	}
	line := make([]byte, sealSize)
	if _, err := f.ReadAt(line, size-int64(sealSize)); err != nil {
		return "", err
	}
	sum, began := strings.CutPrefix(string(line), sealBefore)
	sum, ended := strings.CutSuffix(sum, sealAfter)
	if _, err := hex.DecodeString(sum); err != nil || !began || !ended {
		return "", nil
	}
	return sum, nil
}

// isMarked reports whether the application ID states that the file ends with a SHA-256 line.
func isMarked(f io.ReaderAt) (bool, error) {
	id := make([]byte, len(sealedID))
	if _, err := f.ReadAt(id, sealedOffset); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return string(id) == sealedID, nil
}

// sumOf returns the SHA-256 of the first size bytes of a file, in hexadecimal.
func sumOf(ctx context.Context, f io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, &reader{ctx, io.NewSectionReader(f, 0, size)}); err != nil {
		return "", fmt.Errorf("reading it: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
